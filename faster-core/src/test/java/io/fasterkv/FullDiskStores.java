package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.sim.DiskFaults;
import io.fasterkv.sim.SimulatedDisk;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** Stores on a disk that can be full, with the code that their tests share. */
abstract class FullDiskStores {
  static final int PAGE_BYTES = 4096;
  static final int PAGES = 256;
  static final int PER_PAGE = PAGE_BYTES / 24;
  static final long FOR_EVER = Long.MAX_VALUE;

  @TempDir Path directory;

  final SimulatedDisk disk = new SimulatedDisk();
  final Space space = new Space();

  StoreConfigBuilder config(RecordKind kind) {
    return StoreConfig.builder(disk.directory())
        .memoryBytes(1 << 20)
        .logMemoryBytes(4 * PAGE_BYTES)
        .pageBytes(PAGE_BYTES)
        .indexBytes(1 << 14)
        .scratchBytes(1 << 18)
        .segmentBytes(4 * PAGE_BYTES)
        .recordKind(kind);
  }

  FasterStore open(StoreConfigBuilder config) {
    disk.setFaults(space);
    return FasterStore.open(config.build());
  }

  static LongSession<Object> session(FasterStore store) {
    return store.newSession().longs(LongFunctions.sum());
  }

  static void add(LongSession<Object> session, int from, int until) {
    for (int key = from; key < until; key++) {
      session.upsert(key, key, null);
    }
  }

  static void assertHas(LongSession<Object> session, int keys) {
    for (int key = 0; key < keys; key++) {
      assertThat(session.read(key, null)).as("key " + key).isEqualTo(Status.FOUND);
      assertThat(session.value()).isEqualTo(key);
    }
    assertThat(session.read(keys, null)).isEqualTo(Status.NOT_FOUND);
  }

  void assertRecovers(int keys) {
    disk.setFaults(DiskFaults.NONE);
    try (FasterStore store = FasterStore.recover(config(RecordKind.LONGS).build());
        LongSession<Object> session = session(store)) {
      assertHas(session, keys);
      StoreInvariants.check(store);
    }
  }

  /** Refuses a number of writes to files with a given name. */
  static final class Space implements DiskFaults {
    private String name = "";
    private long left;
    private long refused;

    synchronized void refuse(long writes, String toFiles) {
      name = toFiles;
      left = writes;
      refused = 0;
    }

    synchronized long refused() {
      return refused;
    }

    @Override
    public synchronized int beforeWrite(String file, long position, int bytes) throws IOException {
      if (left > 0 && file.contains(name)) {
        left--;
        refused++;
        throw new IOException("No space left on device");
      }
      return bytes;
    }
  }
}
