package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.sim.DiskFaults;
import io.fasterkv.sim.SimulatedDisk;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests checkpoints whose own files cannot be written: they fail at every step with an exception.
 * The store continues, earlier checkpoints are unchanged, and the next one contains everything.
 */
class CheckpointFaultTest {
  private static final long SEED = 7;
  private static final int MOST_STEPS = 60;

  static List<CheckpointRequest> requests() {
    return CheckpointRequests.all();
  }

  @ParameterizedTest
  @MethodSource("requests")
  void leavesTheStoreUsable(CheckpointRequest request) {
    int failures = 0;
    boolean hasFailed = true;
    for (int step = 0; hasFailed && step < MOST_STEPS; step++) {
      hasFailed = failsAt(step, request);
      failures += hasFailed ? 1 : 0;
    }
    assertThat(hasFailed).as("every step was tried").isFalse();
    assertThat(failures).isGreaterThan(3);
  }

  /** Returns whether the checkpoint reached that step. */
  private static boolean failsAt(int step, CheckpointRequest request) {
    SimulatedDisk disk = new SimulatedDisk();
    SplittableRandom random = new SplittableRandom(SEED);
    Map<Integer, byte[]> model = new HashMap<>();
    Map<Integer, byte[]> first;
    boolean hasFailed = false;
    CheckpointToken before;
    CheckpointToken after;
    try (FasterStore store = FasterStore.open(config(disk));
        ModelDriver driver = new ModelDriver(store, SessionMode.BLOCKING, random, model, SEED)) {
      driver.someOperations(100);
      before = store.checkpoints().take();
      first = new HashMap<>(model);
      driver.someOperations(100);
      disk.setFaults(new FailsOnce(step));
      try {
        store.checkpoints().take(request);
      } catch (DeviceFailed e) {
        hasFailed = true;
        assertThat(e).hasMessageContaining("no room left");
        assertNothingIsLeftOf(disk, before.number() + 1);
      }
      disk.setFaults(DiskFaults.NONE);
      driver.checkAll();
      driver.someOperations(100);
      after = store.checkpoints().take(CheckpointRequests.withLog().get(step % 6));
    }
    recover(disk.copy(), after, model);
    recover(disk, before, first);
    return hasFailed;
  }

  /** Unless the manifest is in place. */
  private static void assertNothingIsLeftOf(SimulatedDisk disk, long number) {
    if (!disk.names().contains("checkpoint-" + number + ".manifest")) {
      assertThat(disk.names()).noneMatch(name -> name.startsWith("checkpoint-" + number + "."));
    }
  }

  /** A file that cannot be removed does no harm, and the log's storage is still released. */
  @Test
  void aRemovalThatFailsGivesTheLogBack() {
    SimulatedDisk disk = new SimulatedDisk();
    Map<Integer, byte[]> model = new HashMap<>();
    try (FasterStore store = FasterStore.open(config(disk));
        ModelDriver driver =
            new ModelDriver(store, SessionMode.BLOCKING, new SplittableRandom(SEED), model, SEED)) {
      driver.upsertAll();
      CheckpointToken first = store.checkpoints().take();
      driver.upsertAll();
      store.log().compact();
      CheckpointToken second = store.checkpoints().take();
      long stored = store.log().storedBytes();
      disk.setFaults(
          new DiskFaults() {
            @Override
            public void beforeDelete(String file) throws IOException {
              if (file.endsWith(".index")) {
                throw new IOException("no way for " + file);
              }
            }
          });
      assertThatThrownBy(() -> store.checkpoints().remove(first))
          .isInstanceOf(DeviceFailed.class)
          .hasMessageContaining("no way for checkpoint-1.index");
      assertThat(store.log().storedBytes()).isLessThan(stored);
      disk.setFaults(DiskFaults.NONE);
      assertThat(store.checkpoints().list()).containsExactly(second);
      store.checkpoints().remove(second);
      assertThat(disk.names()).noneMatch(name -> name.startsWith("checkpoint-"));
      driver.checkAll();
    }
  }

  private static void recover(
      SimulatedDisk disk, CheckpointToken token, Map<Integer, byte[]> expected) {
    try (FasterStore store = FasterStore.recover(config(disk), RecoveryRequest.of(token));
        ModelDriver driver =
            new ModelDriver(
                store, SessionMode.BLOCKING, new SplittableRandom(SEED), expected, SEED)) {
      driver.checkAll();
      assertThat(store.checkpoints().list()).last().isEqualTo(token);
    }
  }

  /** Fails one step on a checkpoint's file and no other. */
  private static final class FailsOnce implements DiskFaults {
    private final AtomicInteger left;

    FailsOnce(int step) {
      left = new AtomicInteger(step);
    }

    private void step(String name) throws IOException {
      if (name.contains("checkpoint-") && left.getAndDecrement() == 0) {
        throw new IOException("no room left for " + name);
      }
    }

    @Override
    public int beforeWrite(String name, long position, int bytes) throws IOException {
      step(name);
      return bytes;
    }

    @Override
    public void beforeForce(String name) throws IOException {
      step(name);
    }

    @Override
    public void beforeName(String name) throws IOException {
      step(name);
    }
  }

  private static StoreConfig config(SimulatedDisk disk) {
    return StoreConfig.builder(disk.directory())
        .memoryBytes(1 << 20)
        .pageBytes(4096)
        .logMemoryBytes(16384)
        .indexBytes(8192)
        .segmentBytes(16384)
        .scratchBytes(256 << 10)
        .build();
  }
}
