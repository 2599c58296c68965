package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.MemoryOrigin.Run;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.StoreException.DiskFull;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.device.NoSpaceException;
import io.fasterkv.device.file.FileDevice;
import io.fasterkv.sim.ScriptedDevice;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests checkpoints of a store whose log is still partly remote. */
class LazyRestoreCheckpointTest extends LazyRestoreStores {
  /** Everything that a checkpoint confirms is in the directory, even if it was still remote. */
  @Tag("slow")
  @Test
  void aCheckpointWaitsForAllOfTheLog() throws Exception {
    List<Run> runs = exported();
    for (CheckpointKind kind : List.of(CheckpointKind.FOLD_OVER, CheckpointKind.SNAPSHOT)) {
      StoreConfig config = prepare(runs, config("second-" + kind).deleteOnClose(false));
      MemoryOrigin origin = new MemoryOrigin(runs).refusing(2);
      RecoveryRequest request = RecoveryRequest.newest().from(origin);
      try (FasterStore store = FasterStore.recover(config, request)) {
        upsert(store, 0, KEYS / 2, 2);
        store.checkpoints().take(CheckpointRequest.full(kind));
        assertThat(store.integration().bytesToCopy()).isZero();
      }
      assertThat(origin.isClosed()).isTrue();
      try (FasterStore store = FasterStore.recover(config)) {
        assertHolds(store, 0, KEYS / 2, 2);
        assertHolds(store, KEYS / 2, KEYS, 1);
      }
    }
  }

  @Test
  void aCheckpointThatFindsDamageEndsTheStoresWrites() throws Exception {
    List<Run> runs = exported();
    runs.getFirst().bytes().getFirst()[100] ^= 1;
    StoreConfig config = prepare(runs, config("second"));
    RecoveryRequest request = RecoveryRequest.newest().from(new MemoryOrigin(runs));
    try (FasterStore store = FasterStore.recover(config, request)) {
      assertThatThrownBy(store.checkpoints()::take)
          .isInstanceOf(DeviceFailed.class)
          .hasMessageContaining("file=memory-0, offset=0");
      assertThatThrownBy(() -> upsert(store, 0, KEYS, 2))
          .isInstanceOf(DeviceFailed.class)
          .hasMessageContaining("file=memory-0, offset=0");
    }
  }

  @Test
  void aCheckpointWaitsForNoFullDisk() throws Exception {
    List<Run> runs = exported();
    StoreConfig config = prepare(runs, config("second").deleteOnClose(false));
    ScriptedDevice disk =
        new ScriptedDevice(new FileDevice(config.directory(), config.segmentBytes()));
    disk.setScript(
        new ScriptedDevice.Script() {
          @Override
          public void beforeWrite(long address, long bytes) throws IOException {
            throw new NoSpaceException(new IOException("full"));
          }
        });
    RecoveryRequest request = RecoveryRequest.newest().from(new MemoryOrigin(runs));
    try (FasterStore store = FasterStore.recover(config, request, disk)) {
      assertThatThrownBy(store.checkpoints()::take).isInstanceOf(DiskFull.class);
      disk.setScript(ScriptedDevice.Script.NONE);
      store.checkpoints().take();
    }
    try (FasterStore store = FasterStore.recover(config)) {
      assertHolds(store, 0, KEYS, 1);
    }
  }
}
