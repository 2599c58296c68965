package io.fasterkv.flink.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.flink.Seeds;
import io.fasterkv.spi.MemoryHolder;
import io.fasterkv.spi.MemoryUses;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;
import org.apache.flink.configuration.TaskManagerOptions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that the stores of a slot release memory for those that open after them. */
@Tag("seeds")
class SlotMemoryTest {
  private static final long MIB = 1 << 20;
  private static final long PAGE = 64 << 10;
  private static final OpeningPart OF_UNUSED = OpeningPart.ofUnused();
  private static final Duration NO_TIME = Duration.ofMillis(50);

  /** A store that releases memory down to {@code least}, in whole pages. */
  private static final class Store implements MemoryHolder {
    final SlotLeases.Lease lease;
    final long least;
    int asked;
    volatile boolean isHanging;
    volatile @Nullable LongConsumer waiting;
    volatile long late;
    long hits;
    long diskReads;

    /** What its index lacks. */
    long indexLack;

    /** What its index has not taken. */
    long spare;

    /** Length of its log. */
    long logBytes;

    Store(SlotLeases.Lease lease, long least) {
      this.lease = lease;
      this.least = least;
      lease.heldBy(this);
    }

    @Override
    public long releasableBytes() {
      return Math.max(0, lease.bytes() - least) / PAGE * PAGE;
    }

    @Override
    public boolean releaseMemory(long bytes, Duration atMost, LongConsumer released) {
      asked++;
      if (isHanging) {
        late = bytes;
        waiting = released;
        return true;
      }
      long given = Math.ceilDiv(Math.min(bytes, releasableBytes()), PAGE) * PAGE;
      spare -= Math.min(given, spare);
      if (given > 0) {
        released.accept(given);
      }
      return given > 0;
    }

    @Override
    public long acceptableBytes() {
      return 128 * MIB - lease.bytes();
    }

    @Override
    public long acceptLogMemory(long bytes) {
      return bytes / PAGE * PAGE;
    }

    @Override
    public long acceptIndexMemory(long bytes) {
      spare += bytes;
      return bytes;
    }

    @Override
    public long releaseIndexMemory(long bytes) {
      long released = isHanging ? 0 : Math.min(bytes, spare);
      spare -= released;
      return released;
    }

    @Override
    public long moveIndexMemoryToLog(long bytes) {
      long moved = Math.min(bytes, spare);
      spare -= moved;
      return moved;
    }

    @Override
    public MemoryUses memoryUses() {
      long memory = Math.max(0, lease.bytes() - spare);
      long used = Math.min(logBytes, memory);
      long releasable = Math.max(0, releasableBytes() - spare);
      return new MemoryUses(
          hits, diskReads, memory, used, logBytes - used, spare, 0, releasable, indexLack, 0, 0);
    }
  }

  private static SlotMemory slot(long bytes) {
    return slot(bytes, Duration.ofSeconds(10));
  }

  private static SlotMemory slot(long bytes, Duration longestWait) {
    return slot(bytes, longestWait, OF_UNUSED);
  }

  private static SlotMemory slot(long bytes, Duration longestWait, OpeningPart opening) {
    return new SlotMemory(
        bytes, TaskManagerOptions.MANAGED_MEMORY_SIZE, opening, () -> {}, longestWait);
  }

  private static Store open(SlotMemory slot, long least) throws IOException {
    return new Store(slot.lease("store", MIB), least);
  }

  private static List<Store> open(SlotMemory slot, int count, long least) throws IOException {
    List<Store> stores = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      stores.add(open(slot, least));
      assertThat(slot.leased()).isLessThanOrEqualTo(128 * MIB);
    }
    return stores;
  }

  @Test
  void eachStoreKeepsAQuarterOfAnEqualPart() throws IOException {
    SlotMemory slot = slot(128 * MIB);
    List<Store> stores = open(slot, 30, MIB);
    for (int i = 0; i < 30; i++) {
      assertThat(stores.get(i).lease.bytes())
          .as("store %d", i)
          .isGreaterThanOrEqualTo((128 * MIB / 30 / 4) - PAGE);
    }
  }

  /**
   * What a store cannot give: a MiB of log and its scratch memory; if its lease is below 35 MiB,
   * the whole index, otherwise a sixteenth of that.
   */
  private static long kept(long lease) {
    long index = lease * 7 / 16;
    return Math.min(lease, MIB + lease / 32 + (lease < 35 * MIB ? index : index / 16));
  }

  private static Store openLikeReal(SlotMemory slot) throws IOException {
    SlotLeases.Lease lease = slot.lease("store", MIB);
    return new Store(lease, kept(lease.bytes()));
  }

  @Test
  void sixtyStoresThatKeepTheirIndexesShareASlot() throws IOException {
    SlotMemory slot = slot(128 * MIB);
    for (int i = 0; i < 60; i++) {
      assertThat(openLikeReal(slot).lease.bytes()).isGreaterThanOrEqualTo(MIB);
      assertThat(slot.leased()).isLessThanOrEqualTo(128 * MIB);
    }
  }

  @Test
  void eightStoresGetAMultipleOfTheMinimumEach() throws IOException {
    SlotMemory slot = slot(110 * MIB);
    List<Store> stores = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      stores.add(openLikeReal(slot));
    }
    assertThat(stores).allMatch(store -> store.lease.bytes() > 3 * MIB);
    assertThat(stores.getFirst().lease.bytes()).isBetween(40 * MIB, 45 * MIB);
  }

  /** Without native access: nothing is released, so the order of opening must not matter. */
  @Test
  void storesThatReleaseNothingGetEqualParts() throws IOException {
    SlotMemory slot = slot(128 * MIB, NO_TIME, OpeningPart.ofPool(32));
    List<Store> stores = open(slot, 32, 128 * MIB);
    assertThat(stores).allMatch(store -> store.lease.bytes() == 4 * MIB);
    assertThatThrownBy(() -> open(slot, 0))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("too many operators")
        .hasMessageContaining("raise state.backend.faster.memory.operators-per-slot=32");
    stores.getFirst().lease.end();
    assertThat(open(slot, 0).lease.bytes()).isEqualTo(4 * MIB);
  }

  @Test
  void aPartIsNoSmallerThanTheMinimum() throws IOException {
    SlotMemory slot = slot(10 * MIB, NO_TIME, OpeningPart.ofPool(32));
    assertThat(open(slot, 10, MIB)).allMatch(store -> store.lease.bytes() == MIB);
    assertThat(slot.leased()).isEqualTo(10 * MIB);
  }

  /** The next store gets what indexes have not taken, before any log releases memory. */
  @Test
  void anIndexReleasesWhatItHasNotTaken() throws Exception {
    SlotMemory slot = slot(128 * MIB, NO_TIME);
    Store first = open(slot, 16 * MIB);
    slot.balance();
    assertThat(first.lease.bytes()).isEqualTo(128 * MIB);
    assertThat(first.spare).isEqualTo(64 * MIB);
    Store second = open(slot, 0);
    assertThat(second.lease.bytes()).isEqualTo(32 * MIB);
    assertThat(first.lease.bytes()).isEqualTo(96 * MIB);
    assertThat(open(slot, 0).lease.bytes()).isEqualTo((32 * MIB / 3) >> 10 << 10);
    assertThat(first.asked).isZero();
  }

  /** Opens a store on another thread; returns when that thread waits for others. */
  private static CompletableFuture<SlotLeases.Lease> waitingOpener(SlotMemory slot) {
    CompletableFuture<SlotLeases.Lease> lease = new CompletableFuture<>();
    Thread opener =
        Thread.ofPlatform()
            .start(() -> {
              try {
                lease.complete(slot.lease("store", MIB));
              } catch (IOException e) {
                lease.completeExceptionally(e);
              }
            });
    while (opener.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    return lease;
  }

  /** They take what is free from each other while they wait, so each must ask anew. */
  @Test
  void storesThatOpenTogetherAllOpen() throws Throwable {
    Seeds.run(
        20,
        random -> {
          SlotMemory slot = slot(128 * MIB);
          long bytes = 114 * MIB + random.nextLong(6 * MIB);
          Store first = new Store(slot.lease("first", bytes), MIB);
          first.isHanging = true;
          List<CompletableFuture<SlotLeases.Lease>> openers = new ArrayList<>();
          for (int i = 0; i < 6; i++) {
            openers.add(waitingOpener(slot));
          }
          first.isHanging = false;
          assertThat(first.waiting).isNotNull();
          first.waiting.accept(first.late);
          long sum = 0;
          for (CompletableFuture<SlotLeases.Lease> opener : openers) {
            assertThat(opener.get().bytes()).isGreaterThanOrEqualTo(MIB);
            sum += opener.get().bytes();
          }
          assertThat(slot.leased())
              .isEqualTo(sum + first.lease.bytes())
              .isLessThanOrEqualTo(128 * MIB);
        });
  }

  /** An index keeps what it takes, so it may not take the parts of stores that open later. */
  @Test
  void noIndexTakesThePartsOfLaterStores() throws Exception {
    SlotMemory slot = slot(128 * MIB, NO_TIME, OpeningPart.ofPool(8));
    // It can release only what its index has not taken.
    Store first = open(slot, 15 * MIB);
    first.spare = MIB;
    first.indexLack = 64 * MIB;
    for (int look = 0; look < 100; look++) {
      slot.balance();
    }
    first.spare = 0;
    assertThat(open(slot, 7, 128 * MIB)).allMatch(store -> store.lease.bytes() == 16 * MIB);
  }

  @Test
  void aStoreThatHangsIsSkippedAndItsMemoryIsFreeLater() throws IOException {
    SlotMemory slot = slot(8 * MIB, NO_TIME);
    Store first = open(slot, 0);
    Store second = open(slot, 0);
    first.isHanging = true;
    while (slot.leased() < 8 * MIB) {
      open(slot, MIB);
    }
    assertThat(first.asked).isPositive();
    assertThat(second.lease.bytes()).as("gives in place of the first").isLessThan(2 * MIB);
    long leased = slot.leased();
    assertThat(first.waiting).isNotNull();
    first.waiting.accept(first.late);
    assertThat(slot.leased()).isEqualTo(leased - first.late);
  }

  @Test
  void aSlotWhoseStoresCannotGiveNamesThem() throws IOException {
    SlotMemory slot = slot(4 * MIB, NO_TIME);
    new Store(slot.lease("joins (1/1)", 4 * MIB), 4 * MIB);
    assertThatThrownBy(() -> slot.lease("counts (1/1)", MIB))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("leases in bytes=[joins (1/1): " + 4 * MIB + "]");
  }

  /** It restores its state, for example, on another task's thread. */
  @Test
  void anOpenerWaitsForAStoreThatIsStillOpening() throws Exception {
    SlotMemory slot = slot(8 * MIB, Duration.ofHours(1));
    SlotLeases.Lease opening = slot.lease("first", 8 * MIB);
    CompletableFuture<SlotLeases.Lease> second = waitingOpener(slot);
    new Store(opening, 0);
    assertThat(second.get().bytes()).isEqualTo(MIB);
    assertThat(opening.bytes()).isEqualTo(7 * MIB);
  }

  /** Its thread was interrupted between lowering its budget and reporting that. */
  @Test
  void memoryReleasedAfterTheLeaseEndedCountsOnce() throws IOException {
    SlotMemory slot = slot(8 * MIB, NO_TIME);
    Store first = open(slot, 0);
    first.isHanging = true;
    while (first.waiting == null) {
      open(slot, MIB);
    }
    first.lease.end();
    long leased = slot.leased();
    first.waiting.accept(first.late);
    assertThat(slot.leased()).isEqualTo(leased);
  }

  @Test
  void anInterruptEndsTheWait() throws IOException {
    SlotMemory slot = slot(2 * MIB, Duration.ofHours(1));
    Store only = new Store(slot.lease("store", 2 * MIB), 0);
    only.isHanging = true;
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> slot.lease("store", MIB))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("interrupted");
    assertThat(Thread.interrupted()).isTrue();
  }

  /** The model: stores that open, close, hang, and answer late, in any order. */
  @Test
  void leasesNeverExceedThePoolWhileMemoryMoves() throws Throwable {
    Seeds.run(
        20,
        random -> {
          long pool = 16 * MIB;
          SlotMemory slot =
              slot(
                  pool,
                  NO_TIME,
                  random.nextBoolean() ? OF_UNUSED : OpeningPart.ofPool(1 + random.nextInt(20)));
          List<Store> stores = new ArrayList<>();
          for (int i = 0; i < 200; i++) {
            step(slot, stores, random);
            long sum = stores.stream().mapToLong(store -> store.lease.bytes()).sum();
            assertThat(slot.leased()).isEqualTo(sum).isBetween(0L, pool);
          }
          stores.forEach(store -> store.lease.end());
          assertThat(slot.leased()).isZero();
        });
  }

  private static void step(SlotMemory slot, List<Store> stores, SplittableRandom random)
      throws InterruptedException {
    Collections.shuffle(stores, new java.util.Random(random.nextLong()));
    Store any = stores.isEmpty() ? null : stores.getFirst();
    switch (random.nextInt(5)) {
      case 0, 1 -> {
        try {
          Store fresh = open(slot, random.nextLong(2 * MIB));
          fresh.isHanging = random.nextInt(8) == 0;
          stores.add(fresh);
        } catch (IOException full) {
          assertThat(full).hasMessageContaining("too many operators");
        }
      }
      case 2 -> {
        if (any != null && any.waiting == null) {
          any.lease.end();
          stores.remove(any);
        }
      }
      case 3 -> {
        for (Store store : stores) {
          store.hits += random.nextInt(1000);
          store.diskReads += random.nextInt(1000);
          store.logBytes += random.nextLong(MIB);
          // Its index takes some of what it may.
          store.spare -= random.nextLong(store.spare + 1);
        }
        slot.balance();
      }
      default -> {
        if (any != null && any.waiting != null) {
          LongConsumer receiver = any.waiting;
          any.waiting = null;
          any.isHanging = false;
          receiver.accept(Math.min(any.late, any.lease.bytes()));
        }
      }
    }
  }
}
