package io.fasterkv.flink.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.FasterStore;
import io.fasterkv.LongSession;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.spi.MemoryHolder;
import io.fasterkv.spi.MemoryUses;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import org.apache.flink.configuration.TaskManagerOptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the thread that moves memory, with real stores. */
class MemoryBalancingTest {
  private static final long MIB = 1 << 20;
  private static final long POOL = 16 * MIB;
  private static final int KEYS = 200_000;
  private static final int SOME = 10_000;

  private static final System.Logger LOGGER = System.getLogger("test");

  @TempDir Path directory;

  private final AtomicInteger released = new AtomicInteger();

  @BeforeAll
  static void request() {
    NativeAccess.request();
  }

  private SlotMemory slot() {
    return new SlotMemory(
        POOL,
        TaskManagerOptions.MANAGED_MEMORY_SIZE,
        OpeningPart.ofUnused(),
        released::incrementAndGet);
  }

  /** A store of a slot whose keys have their own numbers as values. */
  private final class Store implements AutoCloseable {
    final SlotLeases.Lease lease;
    final FasterStore store;
    final LongSession<Void> session;
    final SplittableRandom random = new SplittableRandom(1);

    Store(SlotMemory slot, String name) throws IOException {
      lease = slot.lease(name, MIB);
      store =
          FasterStore.open(
              StoreConfig.builder(directory.resolve(name))
                  .memoryBytes(lease.bytes())
                  .maxMemoryBytes(POOL)
                  .pageBytes(16 << 10)
                  .recordKind(RecordKind.LONGS)
                  .deleteOnClose(true)
                  .backgroundCompaction(true)
                  .growingIndex(true)
                  .build());
      lease.heldBy(store.integration());
      session = store.newSession().longs(LongFunctions.sum());
    }

    void load() {
      for (long key = 0; key < KEYS; key++) {
        session.rmw(key, key, null);
      }
    }

    /** Makes operations on random keys, which append; checks that the store is within the pool. */
    void use() {
      for (int i = 0; i < SOME; i++) {
        long key = random.nextInt(KEYS);
        session.rmw(key, 0, null);
        assertThat(session.completePending(true)).isZero();
      }
      assertThat(store.statistics().memoryBytes()).isLessThanOrEqualTo(POOL);
    }

    void check() {
      for (long key = 0; key < KEYS; key++) {
        assertThat(session.read(key, null)).as("key %d", key).isEqualTo(Status.FOUND);
        assertThat(session.value()).as("key %d", key).isEqualTo(key);
      }
    }

    @Override
    public void close() {
      session.close();
      store.close();
      lease.end();
    }
  }

  @Test
  void realStoresPassTheirMemoryToTheOneInUse() throws IOException {
    SlotMemory slot = slot();
    slot.balanceAlways(LOGGER);
    try (Store first = new Store(slot, "first");
        Store second = new Store(slot, "second");
        Store third = new Store(slot, "third")) {
      first.load();
      second.load();
      third.load();
      for (Store hot : new Store[] {third, first, second}) {
        while (hot.store.integration().memoryUses().logBytes() < POOL / 5) {
          hot.use();
          assertThat(slot.leased()).isLessThanOrEqualTo(POOL);
        }
      }
      first.check();
      second.check();
      third.check();
    }
    assertThat(slot.leased()).isZero();
    assertThat(slot.isBalanced()).isTrue();
    slot.close();
    assertThat(slot.isBalanced()).isFalse();
    assertThat(released.get()).isEqualTo(1);
  }

  /** Its index of some kilobytes gets more main buckets while keys are added. */
  @Test
  void anIndexThatIsNearlyFullGetsWhatOthersDoNotUse() throws IOException {
    SlotMemory slot = slot();
    slot.balanceAlways(LOGGER);
    try (Store first = new Store(slot, "first");
        Store second = new Store(slot, "second");
        Store third = new Store(slot, "third")) {
      long before = third.store.statistics().index().mainBuckets();
      for (long key = 0; key < KEYS; key++) {
        third.session.rmw(key, key, null);
        if (third.store.integration().memoryUses().indexLackBytes() > 0) {
          LockSupport.parkNanos(100_000);
        }
      }
      assertThat(third.store.statistics().index().mainBuckets()).isGreaterThan(before);
      third.check();
      assertThat(first.store.integration().memoryUses().diskReads()).isZero();
      assertThat(second.store.integration().memoryUses().diskReads()).isZero();
    }
    slot.close();
  }

  /** A store that throws whenever it is asked something. */
  private static final class Failing implements MemoryHolder {
    @Override
    public long releasableBytes() {
      throw new OutOfMemoryError("test");
    }

    @Override
    public boolean releaseMemory(long bytes, Duration atMost, LongConsumer receiver) {
      throw new OutOfMemoryError("test");
    }

    @Override
    public long acceptableBytes() {
      return 1;
    }

    @Override
    public long acceptLogMemory(long bytes) {
      throw new OutOfMemoryError("test");
    }

    @Override
    public long acceptIndexMemory(long bytes) {
      throw new OutOfMemoryError("test");
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

  @Test
  void anErrorEndsTheThreadAndNothingElse() throws Exception {
    SlotMemory slot = slot();
    SlotLeases.Lease lease = slot.lease("store", MIB);
    lease.heldBy(new Failing());
    assertThatThrownBy(slot::balance).isInstanceOf(OutOfMemoryError.class);
    slot.balanceAlways(LOGGER);
    slot.balanceAlways(LOGGER);
    while (slot.isBalanced()) {
      Thread.onSpinWait();
    }
    assertThat(lease.bytes()).isEqualTo(POOL / 2);
    lease.end();
    slot.close();
    assertThat(released.get()).isEqualTo(1);
  }
}
