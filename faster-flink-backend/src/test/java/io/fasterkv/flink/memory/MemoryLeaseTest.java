package io.fasterkv.flink.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.config.FasterSettings;
import io.fasterkv.spi.MemoryHolder;
import io.fasterkv.spi.MemoryUses;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongConsumer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.memory.MemoryManager;
import org.apache.flink.runtime.memory.MemoryManagerBuilder;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.util.TestingTaskManagerRuntimeInfo;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("seeds")
class MemoryLeaseTest {
  private static final long SLOT_BYTES = 8L << 20;

  @BeforeAll
  static void request() {
    NativeAccess.request();
  }

  @Test
  void leasesOfASlotNeverAddUpToMoreThanItHas() throws Throwable {
    Seeds.run(
        20,
        random -> {
          SlotMemory slot = slot(SLOT_BYTES, opening(random));
          Deque<SlotLeases.Lease> leases = new ArrayDeque<>();
          long sum = 0;
          for (int i = 0; i < 500; i++) {
            if (random.nextBoolean() && !leases.isEmpty()) {
              SlotLeases.Lease granted = leases.poll();
              sum -= granted.bytes();
              granted.end();
            } else {
              try {
                SlotLeases.Lease granted = slot.lease("store", 128 << 10);
                leases.add(granted);
                sum += granted.bytes();
              } catch (IOException full) {
                assertThat(SLOT_BYTES - sum).isLessThan(128 << 10);
              }
            }
            assertThat(slot.leased()).isEqualTo(sum).isBetween(0L, SLOT_BYTES);
          }
        });
  }

  @Test
  void eachStoreLeasesHalfOfTheFreeMemoryAndReturnsItOnce() throws IOException {
    MemoryManager manager = manager();
    FasterSettings settings = FasterSettings.defaults();
    MemoryLease first = MemoryLease.acquire(manager, "store", 1.0, settings);
    MemoryLease second = MemoryLease.acquire(manager, "store", 1.0, settings);
    assertThat(first.bytes()).isEqualTo(SLOT_BYTES / 2);
    assertThat(second.bytes()).isEqualTo(SLOT_BYTES / 4);
    first.close();
    first.close();
    MemoryLease third = MemoryLease.acquire(manager, "store", 1.0, settings);
    assertThat(third.bytes()).isEqualTo((SLOT_BYTES - second.bytes()) / 2);
    second.close();
    third.close();
    assertThat(manager.verifyEmpty()).isTrue();
  }

  /**
   * Flink's default is half a gigabyte. If each lease took half of the rest, the eleventh would use
   * it up.
   */
  @Test
  void aSlotHasRoomForManyStores() throws IOException {
    SlotMemory slot = slot(512L << 20, OpeningPart.ofUnused());
    FasterSettings settings = FasterSettings.defaults();
    List<SlotLeases.Lease> leases = new ArrayList<>();
    for (int store = 1; store <= 32; store++) {
      leases.add(slot.lease("store", settings.minimumMemoryBytes()));
    }
    assertThat(leases.subList(0, 4))
        .extracting(lease -> lease.bytes() >> 10)
        .containsExactly(256L << 10, 128L << 10, (128L << 10) / 3, (256L << 10) / 12);
    assertThat(leases)
        .extracting(SlotLeases.Lease::bytes)
        .isSortedAccordingTo(Comparator.reverseOrder());

    leases.forEach(SlotLeases.Lease::end);
    assertThat(slot.lease("store", settings.minimumMemoryBytes()).bytes())
        .as("as if there had been no other store")
        .isEqualTo(256L << 20);
  }

  @Test
  void aSlotThatIsUsedUpSaysWhatToRaise() throws IOException {
    MemoryManager manager = manager();
    Configuration config = new Configuration();
    config.setString("state.backend.faster.memory.minimum-per-operator", "8mb");
    FasterSettings greedy = FasterSettings.from(config);
    try (MemoryLease all = MemoryLease.acquire(manager, "store", 1.0, greedy)) {
      assertThat(all.bytes()).isEqualTo(SLOT_BYTES);
      all.heldBy(new GivesNothing(), System.getLogger("test"));
      assertThatThrownBy(() -> MemoryLease.acquire(manager, "store", 1.0, greedy))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("too many operators")
          .hasMessageContaining("operators=1, free=0")
          .hasMessageContaining("leases in bytes=[store: " + SLOT_BYTES + "]")
          .hasMessageContaining("taskmanager.memory.managed.size");
    }
    assertThat(manager.verifyEmpty()).isTrue();
  }

  @Test
  void aSlotWithoutManagedMemorySaysWhatToSet() {
    assertThatThrownBy(
            () -> MemoryLease.acquire(manager(), "store", 0.0, FasterSettings.defaults()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no managed memory")
        .hasMessageContaining("state=0.0")
        .hasMessageContaining("taskmanager.memory.managed.size")
        .hasMessageContaining("fixed-per-slot");
  }

  /** Lowering the share of other stores would not help. */
  @Test
  void aMinimumAboveTheSlotSaysSo() {
    Configuration config = new Configuration();
    config.setString("state.backend.faster.memory.minimum-per-operator", "16mb");
    assertThatThrownBy(
            () -> MemoryLease.acquire(manager(), "store", 1.0, FasterSettings.from(config)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("exceeds the slot's memory")
        .hasMessageContaining("minimum-per-operator=16777216")
        .hasMessageContaining("state=8388608");
  }

  @Test
  void aFixedSizeTakesNoManagedMemory() throws Exception {
    try (MockEnvironment env = MockEnvironment.builder().build();
        MemoryLease lease = MemoryLease.acquire(env, "store", 0.0, fixed("2mb"))) {
      assertThat(lease.bytes()).isEqualTo(2 << 20);
      assertThat(env.getMemoryManager().verifyEmpty()).isTrue();
    }
  }

  @Test
  void fixedSizesTogetherFitTheTaskManagersOffHeapMemory() throws Exception {
    Configuration taskManager = new Configuration();
    // Other tests of this process may have open stores.
    long limit = FixedMemory.OF_THE_PROCESS.reserved() + (5 << 20);
    taskManager.set(TaskManagerOptions.TASK_OFF_HEAP_MEMORY, new MemorySize(limit));
    TestingTaskManagerRuntimeInfo info = new TestingTaskManagerRuntimeInfo(taskManager);
    try (MockEnvironment env = MockEnvironment.builder().setTaskManagerRuntimeInfo(info).build()) {
      assertThatThrownBy(() -> MemoryLease.acquire(env, "store", 0.0, fixed("500gb")))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("fixed-per-operator=536870912000")
          .hasMessageContaining("taskmanager.memory.task.off-heap.size=" + limit);
      try (MemoryLease first = MemoryLease.acquire(env, "store", 0.0, fixed("3mb"))) {
        assertThatThrownBy(() -> MemoryLease.acquire(env, "store", 0.0, fixed("3mb")))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("used by others=" + (limit - (5 << 20) + first.bytes()));
      }
      MemoryLease.acquire(env, "store", 0.0, fixed("3mb")).close();
    }
  }

  @Test
  void storesOfASlotShareAFixedSizeBesideManagedMemory() throws Exception {
    Configuration taskManager = new Configuration();
    long reserved = FixedMemory.OF_THE_PROCESS.reserved();
    long limit = reserved + (9 << 20);
    taskManager.set(TaskManagerOptions.TASK_OFF_HEAP_MEMORY, new MemorySize(limit));
    TestingTaskManagerRuntimeInfo info = new TestingTaskManagerRuntimeInfo(taskManager);
    try (MockEnvironment env = MockEnvironment.builder().setTaskManagerRuntimeInfo(info).build()) {
      MemoryLease first = MemoryLease.acquire(env, "first", 0.0, ofASlot("8mb"));
      MemoryLease second = MemoryLease.acquire(env, "second", 0.0, ofASlot("8mb"));
      assertThat(first.bytes()).isEqualTo(4 << 20);
      assertThat(second.bytes()).isEqualTo(2 << 20);
      assertThat(FixedMemory.OF_THE_PROCESS.reserved()).isEqualTo(reserved + (8 << 20));
      try (MockEnvironment other =
          MockEnvironment.builder().setTaskManagerRuntimeInfo(info).build()) {
        assertThatThrownBy(() -> MemoryLease.acquire(other, "other", 0.0, ofASlot("8mb")))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("fixed-per-slot=8388608")
            .hasMessageContaining("taskmanager.memory.task.off-heap.size=" + limit);
      }
      first.close();
      second.close();
      assertThat(env.getMemoryManager().verifyEmpty()).isTrue();
      assertThat(FixedMemory.OF_THE_PROCESS.reserved()).isEqualTo(reserved);
    }
  }

  private static final class GivesNothing implements MemoryHolder {
    @Override
    public long releasableBytes() {
      return 0;
    }

    @Override
    public boolean releaseMemory(long bytes, Duration atMost, LongConsumer released) {
      return false;
    }

    @Override
    public long acceptableBytes() {
      return 0;
    }

    @Override
    public long acceptLogMemory(long bytes) {
      return 0;
    }

    @Override
    public long acceptIndexMemory(long bytes) {
      return 0;
    }

    @Override
    public long releaseIndexMemory(long bytes) {
      return 0;
    }

    @Override
    public long moveIndexMemoryToLog(long bytes) {
      return 0;
    }

    @Override
    public MemoryUses memoryUses() {
      return new MemoryUses(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    }
  }

  private static OpeningPart opening(SplittableRandom random) {
    return random.nextBoolean()
        ? OpeningPart.ofUnused()
        : OpeningPart.ofPool(1 + random.nextInt(20));
  }

  private static SlotMemory slot(long bytes, OpeningPart opening) {
    return new SlotMemory(
        bytes, TaskManagerOptions.MANAGED_MEMORY_SIZE, opening, () -> {}, Duration.ofNanos(1));
  }

  private static FasterSettings ofASlot(String size) {
    Configuration config = new Configuration();
    config.setString("state.backend.faster.memory.fixed-per-slot", size);
    return FasterSettings.from(config);
  }

  private static FasterSettings fixed(String size) {
    Configuration config = new Configuration();
    config.setString("state.backend.faster.memory.fixed-per-operator", size);
    return FasterSettings.from(config);
  }

  private static MemoryManager manager() {
    return MemoryManagerBuilder.newBuilder().setMemorySize(SLOT_BYTES).build();
  }
}
