package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.StoreException.OperationFailed;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.sim.DiskFaults;
import io.fasterkv.sim.SimulatedDisk;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests requests that fail or transfer too little: never silently, never a hang, never a wrong
 * answer.
 */
@Tag("seeds")
class DiskFaultTest {
  private static final int KEYS = 2000;

  private final SimulatedDisk disk = new SimulatedDisk();

  static LongStream seeds() {
    return Seeds.fresh(6);
  }

  private StoreConfig config(RecordKind kind) {
    return StoreConfig.builder(disk.directory())
        .memoryBytes(1 << 20)
        .logMemoryBytes(4 * 4096)
        .pageBytes(4096)
        .indexBytes(1 << 14)
        .segmentBytes(16384)
        .recordKind(kind)
        .build();
  }

  private static LongSession<Object> session(FasterStore store, SessionMode mode) {
    return store.newSession().mode(mode).longs(LongFunctions.sum());
  }

  private static void add(LongSession<Object> session, int from, int until) {
    for (int key = from; key < until; key++) {
      session.upsert(key, key, null);
    }
  }

  private void assertRecovers(long number, int keys) {
    disk.setFaults(DiskFaults.NONE);
    try (FasterStore store =
            FasterStore.recover(config(RecordKind.LONGS), new CheckpointToken(number));
        LongSession<Object> session = session(store, SessionMode.BLOCKING)) {
      for (int key = 0; key < keys; key++) {
        assertThat(session.read(key, null)).as("key " + key).isEqualTo(Status.FOUND);
        assertThat(session.value()).isEqualTo(key);
      }
      assertThat(session.read(keys, null)).isEqualTo(Status.NOT_FOUND);
      StoreInvariants.check(store);
    }
  }

  /** Fails every request of one kind to files whose name ends with {@code file}. */
  private static IOException broken(String file) {
    return new IOException("Input/output error: " + file);
  }

  private static DiskFaults brokenWrites(String name) {
    return new DiskFaults() {
      @Override
      public int beforeWrite(String file, long position, int bytes) throws IOException {
        if (file.contains(name)) {
          throw broken(file);
        }
        return bytes;
      }
    };
  }

  private static DiskFaults brokenForces(String name) {
    return new DiskFaults() {
      @Override
      public void beforeForce(String file) throws IOException {
        if (file.contains(name)) {
          throw broken(file);
        }
      }
    };
  }

  @Test
  void aPageThatCannotBeWrittenStopsTheStoreAndNamesThePlace() {
    try (FasterStore store = FasterStore.open(config(RecordKind.LONGS));
        LongSession<Object> session = session(store, SessionMode.BLOCKING)) {
      add(session, 0, KEYS);
      store.checkpoints().take();
      disk.setFaults(brokenWrites("log."));
      DeviceFailed failed =
          catchThrowableOfType(DeviceFailed.class, () -> add(session, KEYS, 100 * KEYS));
      assertThat(failed).hasMessageContaining("file=").hasMessageContaining("offset=");
      assertThat(failed).rootCause().hasMessageContaining("Input/output error");
      // The failure is permanent, even if the disk works again: memory may be incomplete.
      disk.setFaults(DiskFaults.NONE);
      assertThatThrownBy(() -> add(session, KEYS, 100 * KEYS)).isInstanceOf(DeviceFailed.class);
      assertThatThrownBy(store.checkpoints()::take).isInstanceOf(DeviceFailed.class);
      // Readable records are still read.
      assertThat(session.read(1, null)).isEqualTo(Status.FOUND);
      assertThat(session.value()).isEqualTo(1);
    }
    assertRecovers(1, KEYS);
  }

  @Test
  void aLogThatCannotBeForcedFailsTheCheckpointForGood() {
    try (FasterStore store = FasterStore.open(config(RecordKind.LONGS));
        LongSession<Object> session = session(store, SessionMode.BLOCKING)) {
      add(session, 0, KEYS);
      store.checkpoints().take();
      add(session, KEYS, 2 * KEYS);
      disk.setFaults(brokenForces("log."));
      assertThatThrownBy(store.checkpoints()::take)
          .isInstanceOf(DeviceFailed.class)
          .hasMessageContaining("log.");
      // A second force of the same file would succeed and mean nothing.
      disk.setFaults(DiskFaults.NONE);
      assertThatThrownBy(store.checkpoints()::take).isInstanceOf(DeviceFailed.class);
    }
    assertRecovers(1, KEYS);
  }

  @Test
  void aCheckpointWhoseFilesCannotBeWrittenFailsAndTheNextOneWorks() {
    DiskFaults[] all = {
      brokenWrites(".index"),
      brokenForces(".index"),
      brokenWrites(".manifest"),
      brokenForces(".manifest"),
      new DiskFaults() {
        @Override
        public void beforeName(String file) throws IOException {
          if (file.endsWith(".manifest")) {
            throw broken(file);
          }
        }
      }
    };
    long last = 0;
    try (FasterStore store = FasterStore.open(config(RecordKind.LONGS));
        LongSession<Object> session = session(store, SessionMode.BLOCKING)) {
      for (int i = 0; i < all.length; i++) {
        add(session, i * 100, (i + 1) * 100);
        disk.setFaults(all[i]);
        assertThatThrownBy(store.checkpoints()::take)
            .as("fault " + i)
            .isInstanceOf(DeviceFailed.class)
            .hasMessageContaining("checkpoint-");
        disk.setFaults(DiskFaults.NONE);
        long number = store.checkpoints().take().number();
        assertThat(number).isGreaterThan(last);
        assertThat(disk.names().stream().filter(name -> name.endsWith(".manifest"))).hasSize(i + 1);
        last = number;
      }
    }
    assertRecovers(last, all.length * 100);
  }

  @Test
  void aRecordThatCannotBeReadFailsItsOperationAndNoOther() {
    try (FasterStore store = FasterStore.open(config(RecordKind.LONGS));
        LongSession<Object> blocking = session(store, SessionMode.BLOCKING);
        LongSession<Object> pending = session(store, SessionMode.PENDING)) {
      add(blocking, 0, KEYS);
      disk.setFaults(
          new DiskFaults() {
            @Override
            public int beforeRead(String file, long position, int bytes) throws IOException {
              if (position < 4096) {
                throw broken(file);
              }
              return bytes;
            }
          });
      int failed = 0;
      for (int key = 0; key < KEYS; key++) {
        failed += read(blocking, key) ? 0 : 1;
        assertThat(pending.read(key, null)).isIn(Status.PENDING, Status.FOUND);
        failed += completes(pending) ? 0 : 1;
      }
      assertThat(failed).isPositive();
      disk.setFaults(DiskFaults.NONE);
      for (int key = 0; key < KEYS; key++) {
        assertThat(read(blocking, key)).isTrue();
        blocking.rmw(key, 1, null);
      }
      assertThat(pending.completePending(true)).isZero();
      StoreInvariants.check(store);
    }
  }

  private static boolean read(LongSession<Object> session, int key) {
    try {
      assertThat(session.read(key, null)).isEqualTo(Status.FOUND);
      assertThat(session.value()).isEqualTo(key);
      return true;
    } catch (DeviceFailed e) {
      assertThat(e).hasMessageContaining("file=").hasMessageContaining("offset=");
      return false;
    }
  }

  private static boolean completes(LongSession<Object> session) {
    try {
      assertThat(session.completePending(true)).isZero();
      return true;
    } catch (OperationFailed e) {
      assertThat(e.getCause())
          .isInstanceOf(DeviceFailed.class)
          .hasMessageContaining("file=")
          .hasMessageContaining("offset=");
      return false;
    }
  }

  /** Every transfer is cut short at random, and all operations succeed: transfers are repeated. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void shortTransfersAreContinued(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    AtomicInteger calls = new AtomicInteger();
    disk.setFaults(
        new DiskFaults() {
          @Override
          public int beforeWrite(String file, long position, int bytes) {
            return 1 + Math.floorMod(calls.incrementAndGet() * 31, bytes);
          }

          @Override
          public int beforeRead(String file, long position, int bytes) {
            return 1 + Math.floorMod(calls.incrementAndGet() * 31, bytes);
          }
        });
    Map<Integer, byte[]> model = new HashMap<>();
    try (FasterStore store = FasterStore.open(config(RecordKind.SPANS));
        ModelDriver driver = new ModelDriver(store, SessionMode.PENDING, random, model, seed)) {
      driver.someOperations(2000);
      store.checkpoints().take();
    }
    try (FasterStore store = FasterStore.recover(config(RecordKind.SPANS));
        ModelDriver driver = new ModelDriver(store, SessionMode.BLOCKING, random, model, seed)) {
      driver.checkAll();
      driver.someOperations(1000);
      driver.checkAll();
    }
  }

  /**
   * Any request may fail, one in a few hundred. Whatever the store then reports, the next start
   * finds an intact checkpoint: the last acknowledged one or one that was in progress.
   */
  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void aFailureAtAnyPointLeavesACheckpoint(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<Long, Map<Integer, byte[]>> committed = new HashMap<>();
    committed.put(0L, Map.of());
    long acknowledged = 0;
    for (int generation = 0; generation < 30; generation++) {
      String title = "seed " + seed + ", generation " + generation;
      disk.setFaults(DiskFaults.NONE);
      long newest = CheckpointNames.newest(disk);
      assertThat(newest).as(title).isGreaterThanOrEqualTo(acknowledged);
      acknowledged = newest;
      Map<Integer, byte[]> model = new HashMap<>(committed.get(newest));
      FasterStore store =
          newest == 0
              ? FasterStore.open(config(RecordKind.SPANS))
              : FasterStore.recover(config(RecordKind.SPANS));
      ModelDriver driver =
          new ModelDriver(store, SessionMode.BLOCKING, random.split(), model, seed);
      driver.checkAll();
      StoreInvariants.check(store);
      disk.setFaults(RandomFaults.everywhere(random.split(), 300));
      try {
        while (true) {
          driver.someOperations(random.nextInt(100));
          committed.put(CheckpointNames.newest(disk) + 1, new HashMap<>(model));
          acknowledged = store.checkpoints().take().number();
        }
      } catch (StoreException e) {
        assertThat(e).as(title).hasRootCauseInstanceOf(IOException.class);
        assertThat(e).as(title).hasStackTraceContaining("by chance");
      } finally {
        disk.setFaults(DiskFaults.NONE);
        driver.close();
        store.close();
      }
    }
  }
}
