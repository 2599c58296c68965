package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.device.LogDevice;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.sim.DiskFaults;
import io.fasterkv.sim.ScriptedDevice;
import io.fasterkv.sim.SimulatedDisk;
import io.fasterkv.state.Phase;
import io.fasterkv.state.SystemState;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Tests cuts and checkpoints that coincide. */
class CutTest {
  private static final int KEYS = 1000;

  private final SimulatedDisk disk = new SimulatedDisk();
  private final MemoryDevice device = new MemoryDevice();
  private final StoreConfig config =
      StoreConfig.builder(disk.directory())
          .memoryBytes(1 << 20)
          .logMemoryBytes(8 * 4096)
          .pageBytes(4096)
          .maxSessions(1)
          .recordKind(RecordKind.LONGS)
          .build();

  private static LongSession<Void> session(FasterStore store) {
    return store.newSession().longs(LongFunctions.sum());
  }

  private static void add(LongSession<Void> session, int from, int until) {
    for (int key = from; key < until; key++) {
      session.rmw(key, key, null);
    }
  }

  private void assertRecovers(CheckpointToken token, LogDevice device, int keys) {
    disk.setFaults(DiskFaults.NONE);
    try (FasterStore store = FasterStore.recover(config, token, device);
        LongSession<Void> session = session(store)) {
      for (int key = 0; key < keys; key++) {
        session.read(key, null);
        assertThat(session.value()).as("key " + key).isEqualTo(key);
      }
      StoreInvariants.check(store);
    }
  }

  /** A session holds the only epoch slot for sessions; the store's own work has another slot. */
  @Test
  void aCheckpointAndAScanNeedNoSession() {
    CheckpointToken token;
    try (FasterStore store = FasterStore.open(config, device);
        LongSession<Void> session = session(store)) {
      add(session, 0, KEYS);
      token = store.checkpoints().take();
      StoreInvariants.check(store);
    }
    assertRecovers(token, device, KEYS);
  }

  /** The end of a checkpoint is the end of an extent, although a later cut is flushed with it. */
  @Test
  void aCheckpointThatIsFlushedTogetherWithALaterCutIsWhole() {
    Queue<Runnable> completions = new ConcurrentLinkedQueue<>();
    ScriptedDevice slow = new ScriptedDevice(device);
    slow.setScript(
        new ScriptedDevice.Script() {
          @Override
          public void complete(Runnable completion) {
            completions.add(completion);
          }
        });
    AtomicReference<CheckpointToken> token = new AtomicReference<>();
    try (FasterStore store = FasterStore.open(config, slow);
        LongSession<Void> session = session(store)) {
      add(session, 0, KEYS);
      // As many writes as may be in progress at a time: records that become immutable now are
      // written later.
      int underWay = -1;
      while (completions.size() > underWay) {
        underWay = completions.size();
        session.rmw(KEYS, 1, null);
        store.log().cut().close();
        session.read(0, null);
      }
      Engine engine = Insides.engine(store);
      Thread checkpoint = Pause.begin(() -> token.set(store.checkpoints().take()));
      while (SystemState.phase(engine.versions().state().word()) != Phase.WAIT_FLUSH
          || engine.log().safeReadOnlyAddress() < engine.log().regions().inPlaceFrom()) {
        session.read(0, null);
      }
      session.rmw(KEYS + 1, 1, null);
      store.log().cut().close();
      session.read(0, null);
      slow.setScript(ScriptedDevice.Script.NONE);
      completions.forEach(Runnable::run);
      Pause.join(checkpoint);
    }
    assertRecovers(token.get(), device, KEYS);
  }

  /** A cut is closed while the first page is written but not reported: the page stays in memory. */
  @Test
  void aCutThatIsClosedGivesNothingBackThatIsStillWanted() {
    Queue<Runnable> completions = new ArrayDeque<>();
    ScriptedDevice slow = new ScriptedDevice(device);
    slow.setScript(
        new ScriptedDevice.Script() {
          @Override
          public void complete(Runnable completion) {
            completions.add(completion);
          }
        });
    CheckpointToken token;
    try (FasterStore store = FasterStore.open(config, slow);
        LongSession<Void> session = session(store)) {
      add(session, 0, KEYS / 10);
      LogCut cut = store.log().cut();
      // The next operation begins the flush.
      session.read(0, null);
      assertThat(completions).isNotEmpty();
      cut.close();
      slow.setScript(ScriptedDevice.Script.NONE);
      completions.forEach(Runnable::run);
      token = store.checkpoints().take();
    }
    assertRecovers(token, device, KEYS / 10);
  }

  /** Operations that run while the index is copied, after the cut, are not in the checkpoint. */
  @Test
  void updatesAfterTheCutAreNotInTheCheckpoint() {
    CheckpointToken token;
    try (FasterStore store = FasterStore.open(config, device);
        LongSession<Void> session = session(store)) {
      add(session, 0, KEYS);
      disk.setFaults(
          new DiskFaults() {
            @Override
            public int beforeWrite(String file, long position, int bytes) {
              add(session, 0, KEYS);
              return bytes;
            }
          });
      token = store.checkpoints().take();
    }
    assertRecovers(token, device, KEYS);
  }
}
