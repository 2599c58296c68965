package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.config.StoreConfig;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests a recovery that reads and verifies on several threads. If any request fails, the recovery
 * fails, names the file, and leaves no thread behind; the next attempt can recover the remaining
 * files. If several places are damaged, it names the first.
 */
@Tag("seeds")
class RecoveryFaultTest {
  private static final String INDEX = "checkpoint-1.index";
  private static final int PAGE_BYTES = 4096;
  private static final int SEGMENT_BYTES = 16384;
  private static final int MOST_STEPS = 2000;
  private static final int ROUNDS = 10;

  private final SimulatedDisk disk = new SimulatedDisk();
  private final Map<Integer, byte[]> model = new HashMap<>();
  private long seed = 11;

  static LongStream seeds() {
    return Seeds.fresh(2);
  }

  private void fill(CheckpointKind kind, int operations) {
    try (FasterStore store = FasterStore.open(config(disk));
        ModelDriver driver =
            new ModelDriver(store, SessionMode.BLOCKING, new SplittableRandom(seed), model, seed)) {
      driver.someOperations(operations);
      store.checkpoints().take(CheckpointRequest.full(kind));
    }
  }

  private static StoreConfig config(SimulatedDisk disk) {
    return StoreConfig.builder(disk.directory())
        .memoryBytes(16 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes(64 << 10)
        .indexBytes(8 << 20)
        .segmentBytes(SEGMENT_BYTES)
        .scratchBytes(256 << 10)
        .build();
  }

  private void assertRecovers(SimulatedDisk from) {
    try (FasterStore store = FasterStore.recover(config(from));
        ModelDriver driver =
            new ModelDriver(store, SessionMode.BLOCKING, new SplittableRandom(seed), model, seed)) {
      driver.checkAll();
    }
  }

  private static void assertNoThreadIsLeft(String what) {
    assertThat(Thread.getAllStackTraces().keySet())
        .as(what)
        .noneMatch(thread -> thread.getName().startsWith("faster-recovery-"));
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "INDEX_ONLY")
  void failsWithTheRequestThatFails(CheckpointKind kind) {
    fill(kind, 300);
    int failures = 0;
    boolean hasFailed = true;
    for (int step = 0; hasFailed && step < MOST_STEPS; step++) {
      SimulatedDisk own = disk.copy();
      FailsOnce faults = new FailsOnce(step);
      own.setFaults(faults);
      Throwable failure = catchThrowable(() -> FasterStore.recover(config(own)).close());
      own.setFaults(DiskFaults.NONE);
      assertNoThreadIsLeft("step " + step);
      hasFailed = faults.failed != null;
      if (hasFailed) {
        failures++;
        assertThat(failure)
            .as("step " + step)
            .isInstanceOf(Corrupt.class)
            .hasMessageContaining(faults.failed)
            .hasMessageContaining("offset=")
            .hasMessageContaining("no luck");
      } else {
        assertThat(failure).as("step " + step).isNull();
      }
      if (step % 5 == 0) {
        assertRecovers(own);
      }
    }
    assertThat(hasFailed).as("every step was tried").isFalse();
    assertThat(failures).isGreaterThan(5);
  }

  /** Fails one read or write of an index, a snapshot or the log, and no other. */
  private static final class FailsOnce implements DiskFaults {
    private final AtomicInteger left;
    private volatile String failed;

    FailsOnce(int step) {
      left = new AtomicInteger(step);
    }

    private int step(String name, int bytes) throws IOException {
      if (!name.contains("manifest") && left.getAndDecrement() == 0) {
        failed = name;
        throw new IOException("no luck");
      }
      return bytes;
    }

    @Override
    public int beforeRead(String name, long position, int bytes) throws IOException {
      return step(name, bytes);
    }

    @Override
    public int beforeWrite(String name, long position, int bytes) throws IOException {
      return step(name, bytes);
    }
  }

  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void namesTheFirstOfSeveralWrongPlaces(long given) {
    seed = given;
    fill(CheckpointKind.FOLD_OVER, 3000);
    SplittableRandom random = new SplittableRandom(seed);
    int segments = (int) disk.names().stream().filter(name -> name.startsWith("log.")).count();
    assertThat(segments).isGreaterThan(3);
    for (int round = 0; round < ROUNDS; round++) {
      SimulatedDisk log = disk.copy();
      // Not in the last segment, which may extend beyond the checkpoint's end.
      long end = (long) (segments - 1) * SEGMENT_BYTES;
      long first = Math.min(flipInLog(log, random, end), flipInLog(log, random, end));
      long page = first / PAGE_BYTES * PAGE_BYTES;
      assertNames(log, "log." + page / SEGMENT_BYTES + ", offset=" + page % SEGMENT_BYTES + ",");

      SimulatedDisk index = disk.copy();
      int wrong = Math.min(flipInIndex(index, random), flipInIndex(index, random));
      assertNames(index, INDEX + ", offset=" + wrong / PAGE_BYTES * PAGE_BYTES + ",");
    }
  }

  private void assertNames(SimulatedDisk broken, String place) {
    Throwable failure = catchThrowable(() -> FasterStore.recover(config(broken)).close());
    assertThat(failure)
        .as("seed " + seed)
        .isInstanceOf(Corrupt.class)
        .hasMessageContaining("checksum")
        .hasMessageContaining(place);
    assertNoThreadIsLeft("seed " + seed);
  }

  private long flipInLog(SimulatedDisk broken, SplittableRandom random, long end) {
    long address = random.nextLong(end);
    flip(broken, "log." + address / SEGMENT_BYTES, (int) (address % SEGMENT_BYTES));
    return address;
  }

  private int flipInIndex(SimulatedDisk broken, SplittableRandom random) {
    int at = random.nextInt(disk.content(INDEX).length);
    flip(broken, INDEX, at);
    return at;
  }

  /** Changes a byte; repeating the same change has no further effect. */
  private void flip(SimulatedDisk broken, String name, int at) {
    byte[] bytes = broken.content(name);
    bytes[at] = (byte) ~disk.content(name)[at];
    broken.put(name, bytes);
  }
}
