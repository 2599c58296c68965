package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.CheckpointToken;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreConfig.RecordKind;
import io.fasterkv.device.LogDevice;
import io.fasterkv.device.MemoryDevice;
import io.fasterkv.epoch.Phase;
import io.fasterkv.epoch.SystemState;
import io.fasterkv.operation.Engine;
import io.fasterkv.sim.DiskFaults;
import io.fasterkv.sim.ScriptedDevice;
import io.fasterkv.sim.SimulatedDisk;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Cuts and checkpoints that meet in a bad moment. */
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
    return store.newLongSession(LongFunctions.sum(), SessionMode.BLOCKING);
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

  /** A session has the only place there is for sessions: the store's own work has its own. */
  @Test
  void aCheckpointAndAScanNeedNoSession() {
    CheckpointToken token;
    try (FasterStore store = FasterStore.open(config, device);
        LongSession<Void> session = session(store)) {
      add(session, 0, KEYS);
      token = store.checkpoint();
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
      // As many writes as may be under way: what comes to be immutable now is written later.
      int underWay = -1;
      while (completions.size() > underWay) {
        underWay = completions.size();
        session.rmw(KEYS, 1, null);
        store.cut().close();
        session.read(0, null);
      }
      Engine engine = Insides.engine(store);
      Thread checkpoint = Pause.begin(() -> token.set(store.checkpoint()));
      while (SystemState.phase(engine.versions().state().word()) != Phase.WAIT_FLUSH
          || engine.log().safeReadOnlyAddress() < engine.log().regions().inPlaceFrom()) {
        session.read(0, null);
      }
      session.rmw(KEYS + 1, 1, null);
      store.cut().close();
      session.read(0, null);
      slow.setScript(ScriptedDevice.Script.NONE);
      completions.forEach(Runnable::run);
      Pause.join(checkpoint);
    }
    assertRecovers(token.get(), device, KEYS);
  }

  /** A cut is closed while the first page is written, but not reported: the page stays. */
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
      LogCut cut = store.cut();
      // The next who comes by begins the flush.
      session.read(0, null);
      assertThat(completions).isNotEmpty();
      cut.close();
      slow.setScript(ScriptedDevice.Script.NONE);
      completions.forEach(Runnable::run);
      token = store.checkpoint();
    }
    assertRecovers(token, device, KEYS / 10);
  }

  /** Operations beside the copy of the index and after the cut are not in the checkpoint. */
  @Test
  void whatComesAfterTheCutIsNotInTheCheckpoint() {
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
      token = store.checkpoint();
    }
    assertRecovers(token, device, KEYS);
  }
}
