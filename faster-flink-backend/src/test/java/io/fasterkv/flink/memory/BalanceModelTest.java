package io.fasterkv.flink.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.Seeds;
import io.fasterkv.spi.MemoryHolder;
import io.fasterkv.spi.MemoryUses;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongConsumer;
import org.apache.flink.configuration.TaskManagerOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests how memory follows the load, on a model of stores: their keys are used uniformly, each look
 * sees some thousand operations, and each operation writes a record, which is how a log fills more
 * memory. The sum of the leases is checked at each step.
 */
@Tag("seeds")
class BalanceModelTest {
  private static final long MIB = 1 << 20;
  private static final long PAGE = 64 << 10;
  private static final long ANY = Long.MAX_VALUE / 2;
  private static final int RECORD = 200;

  /** As many looks as there are in ten seconds. */
  private static final int TEN_SECONDS = 200;

  /** A store whose keys are used uniformly; what is not in its memory is read from disk. */
  private static final class Store implements MemoryHolder {
    final SlotLeases.Lease lease;
    final long stateBytes;
    final SplittableRandom random;
    long rate;
    long filled;
    long hits;
    long diskReads;
    boolean isStubborn;
    long indexLackBytes;

    /** The part of the lease that its index has not taken. */
    long spareIndexBytes;

    int asked;

    Store(SlotLeases.Lease lease, long stateBytes, long rate, SplittableRandom random) {
      this.lease = lease;
      this.stateBytes = stateBytes;
      this.rate = rate;
      this.random = random;
      filled = inMemory(stateBytes);
      lease.heldBy(this);
    }

    long logBytes() {
      return lease.bytes() - spareIndexBytes;
    }

    /** The part of {@code most} that is in memory; a sixteenth of it is clear pages. */
    private long inMemory(long most) {
      return Math.min(most, logBytes() / 16 * 15);
    }

    void run() {
      filled = inMemory(filled);
      for (long i = 0; i < rate; i++) {
        if (random.nextLong(stateBytes) < filled) {
          hits++;
        } else {
          diskReads++;
        }
      }
      filled = inMemory(Math.min(stateBytes, filled + rate * RECORD));
    }

    @Override
    public long releasableBytes() {
      return Math.max(0, lease.bytes() - MIB) / PAGE * PAGE;
    }

    @Override
    public boolean releaseMemory(long bytes, Duration atMost, LongConsumer released) {
      asked++;
      long given = isStubborn ? 0 : Math.ceilDiv(Math.min(bytes, releasableBytes()), PAGE) * PAGE;
      spareIndexBytes -= Math.min(given, spareIndexBytes);
      released.accept(given);
      return true;
    }

    @Override
    public long acceptableBytes() {
      return ANY;
    }

    @Override
    public long acceptLogMemory(long bytes) {
      return bytes / PAGE * PAGE;
    }

    @Override
    public long acceptIndexMemory(long bytes) {
      spareIndexBytes += bytes;
      return bytes;
    }

    @Override
    public long releaseIndexMemory(long bytes) {
      return moveIndexMemoryToLog(bytes);
    }

    @Override
    public long moveIndexMemoryToLog(long bytes) {
      long moved = Math.min(bytes, spareIndexBytes);
      spareIndexBytes -= moved;
      return moved;
    }

    @Override
    public MemoryUses memoryUses() {
      filled = inMemory(filled);
      long disk = stateBytes - filled;
      return new MemoryUses(
          hits,
          diskReads,
          logBytes(),
          filled,
          disk,
          spareIndexBytes,
          ANY,
          Math.min(releasableBytes(), logBytes()),
          indexLackBytes,
          0,
          0);
    }
  }

  /** A slot and its stores. */
  private static final class Slot {
    final long pool;
    final SlotMemory memory;
    final List<Store> stores = new ArrayList<>();
    final SplittableRandom random;

    Slot(long pool, SplittableRandom random) {
      this.pool = pool;
      this.random = random;
      memory =
          new SlotMemory(
              pool, TaskManagerOptions.MANAGED_MEMORY_SIZE, OpeningPart.ofUnused(), () -> {});
    }

    Store open(long stateBytes, long rate) throws IOException {
      Store store = new Store(memory.lease("store", MIB), stateBytes, rate, random);
      stores.add(store);
      return store;
    }

    /** Runs for some looks; returns how often memory moved. */
    int run(int looks) throws InterruptedException {
      int moves = 0;
      for (int i = 0; i < looks; i++) {
        stores.forEach(Store::run);
        moves += memory.balance() ? 1 : 0;
        long sum = stores.stream().mapToLong(store -> store.lease.bytes()).sum();
        assertThat(sum).isEqualTo(memory.leased()).isLessThanOrEqualTo(pool);
      }
      return moves;
    }
  }

  @Test
  void aStoreAloneGetsThePool() throws Throwable {
    Slot slot = new Slot(32 * MIB, new SplittableRandom(1));
    Store only = slot.open(128 * MIB, 2000);
    assertThat(only.lease.bytes()).isEqualTo(16 * MIB);
    slot.run(TEN_SECONDS);
    assertThat(only.lease.bytes()).isEqualTo(32 * MIB);
  }

  /** Its index may take the rest while there is no other store, and gives it to one that opens. */
  @Test
  void aStoreWhoseStateFitsKeepsTheRestForItsIndex() throws Throwable {
    Slot slot = new Slot(32 * MIB, new SplittableRandom(1));
    Store only = slot.open(8 * MIB, 2000);
    assertThat(slot.run(TEN_SECONDS)).isEqualTo(1);
    assertThat(only.lease.bytes()).isEqualTo(32 * MIB);
    assertThat(only.logBytes()).isEqualTo(16 * MIB);
    assertThat(slot.open(8 * MIB, 2000).lease.bytes()).isEqualTo(8 * MIB);
    assertThat(only.logBytes()).isEqualTo(16 * MIB);
  }

  /** It reads nothing, so no disk reads tell what it needs. */
  @Test
  void aStoreThatOnlyAddsKeysGetsAnEqualPart() throws Throwable {
    Slot slot = new Slot(32 * MIB, new SplittableRandom(1));
    slot.open(MIB, 0);
    slot.open(MIB, 0);
    Store adding = slot.open(512 * MIB, 0);
    for (int i = 0; i < TEN_SECONDS; i++) {
      adding.filled = adding.inMemory(adding.stateBytes);
      slot.run(1);
    }
    assertThat(adding.logBytes()).isBetween(4 * MIB - PAGE, 4 * MIB);
    assertThat(adding.lease.bytes()).isBetween(8 * MIB - PAGE, 32 * MIB / 3);
    assertThat(slot.run(TEN_SECONDS)).isZero();
  }

  /** Whatever the order of opening, the hot one of five has nearly everything ten seconds later. */
  @Test
  void memoryFollowsTheHotStore() throws Throwable {
    Seeds.run(
        5,
        random -> {
          Slot slot = new Slot(32 * MIB, random);
          for (int i = 0; i < 5; i++) {
            slot.open(32 * MIB, 50);
          }
          for (int i = 0; i < 10; i++) {
            Store hot = slot.stores.get(random.nextInt(5));
            slot.stores.forEach(store -> store.rate = store == hot ? 2000 : 50);
            slot.run(TEN_SECONDS);
            assertThat(hot.lease.bytes()).isGreaterThan(28 * MIB * 9 / 10);
          }
        });
  }

  @Test
  void thirtyIdleStoresKeepTheirMinimum() throws Throwable {
    Slot slot = new Slot(128 * MIB, new SplittableRandom(1));
    for (int i = 0; i < 30; i++) {
      slot.open(64 * MIB, 0);
    }
    Store busy = slot.open(512 * MIB, 2000);
    slot.run(2 * TEN_SECONDS);
    assertThat(busy.lease.bytes()).isGreaterThan(90 * MIB);
    assertThat(slot.stores).allMatch(store -> store.lease.bytes() >= MIB);
  }

  /** Two stores that need memory equally keep what they have. */
  @Test
  void equalStoresDoNotTrade() throws Throwable {
    Seeds.run(
        5,
        random -> {
          Slot slot = new Slot(32 * MIB, random);
          slot.open(64 * MIB, 1000);
          slot.open(64 * MIB, 1000);
          // What is free is moved.
          slot.run(TEN_SECONDS);
          assertThat(slot.memory.leased()).isEqualTo(32 * MIB);
          assertThat(slot.run(10 * TEN_SECONDS)).isZero();
        });
  }

  /** A store that fits its memory and is used does not lose it to one that will never fit. */
  @Test
  void aSmallHotStoreKeepsItsMemory() throws Throwable {
    Slot slot = new Slot(32 * MIB, new SplittableRandom(1));
    Store small = slot.open(8 * MIB, 2000);
    Store large = slot.open(512 * MIB, 2000);
    slot.run(4 * TEN_SECONDS);
    assertThat(small.lease.bytes()).isBetween(8 * MIB, 11 * MIB);
    assertThat(large.lease.bytes()).isGreaterThan(20 * MIB);
  }

  /** After a burst, memory returns to the store that was busy before. */
  @Test
  void aBurstTakesMemoryOnlyForAWhile() throws Throwable {
    Slot slot = new Slot(32 * MIB, new SplittableRandom(1));
    Store busy = slot.open(128 * MIB, 1000);
    Store bursting = slot.open(128 * MIB, 0);
    slot.run(2 * TEN_SECONDS);
    assertThat(busy.lease.bytes()).isGreaterThan(29 * MIB);
    bursting.rate = 5000;
    slot.run(40);
    bursting.rate = 0;
    slot.run(2 * TEN_SECONDS);
    assertThat(busy.lease.bytes()).isGreaterThan(29 * MIB);
  }

  /** One that releases nothing is asked once in ten seconds, and others in its place. */
  @Test
  void aStoreThatReleasesNothingIsSkipped() throws Throwable {
    Slot slot = new Slot(32 * MIB, new SplittableRandom(1));
    Store stubborn = slot.open(64 * MIB, 0);
    stubborn.isStubborn = true;
    Store idle = slot.open(64 * MIB, 0);
    Store busy = slot.open(64 * MIB, 2000);
    slot.run(TEN_SECONDS);
    assertThat(stubborn.asked).isBetween(1, 2);
    assertThat(idle.lease.bytes()).isLessThan(2 * MIB);
    assertThat(busy.lease.bytes()).isGreaterThan(13 * MIB);
    stubborn.isStubborn = false;
    slot.run(2 * TEN_SECONDS);
    assertThat(busy.lease.bytes()).isGreaterThan(28 * MIB);
  }

  /** The index of the one gets memory that the log of another does not use, but not more. */
  @Test
  void aFullIndexGetsWhatIsOfNoUseToOthers() throws Throwable {
    Slot slot = new Slot(32 * MIB, new SplittableRandom(1));
    Store used = slot.open(64 * MIB, 2000);
    Store empty = slot.open(MIB, 0);
    Store filling = slot.open(512 * MIB, 0);
    slot.run(TEN_SECONDS);
    filling.indexLackBytes = 4 * MIB;
    slot.run(TEN_SECONDS);
    assertThat(used.lease.bytes() + filling.lease.bytes()).isGreaterThan(28 * MIB);
    assertThat(empty.lease.bytes()).isLessThan(2 * MIB + 32 * MIB / 16);
    long before = used.lease.bytes();
    slot.run(TEN_SECONDS);
    assertThat(used.lease.bytes()).isEqualTo(before);
  }
}
