package io.fasterkv.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.StoreException.OutOfBudget;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class BufferPoolTest {
  private static final int POOL_BYTES = 64 * BufferPool.MIN_BYTES;
  private static final int STEPS = 20_000;

  private final MemoryBudget budget = new MemoryBudget(POOL_BYTES);
  private final OffHeapArena arena = new OffHeapArena(budget);
  private final BufferPool pool = new BufferPool(arena, POOL_BYTES);

  private record Lent(MemorySegment buffer, byte mark) {}

  @AfterEach
  void close() {
    arena.close();
  }

  @Test
  void takesAllItsMemoryAtOnceAndNeverMore() {
    assertThat(budget.usedBytes()).isEqualTo(POOL_BYTES);
    MemorySegment all = pool.take(POOL_BYTES);
    assertThat(all.byteSize()).isEqualTo(POOL_BYTES);
    assertThat(pool.tryTake(1)).isNull();
    assertThatThrownBy(() -> pool.take(1))
        .isInstanceOf(OutOfBudget.class)
        .hasMessageContaining("bytes=1, scratchBytes=" + POOL_BYTES);
    assertThat(budget.usedBytes()).isEqualTo(POOL_BYTES);
  }

  @Test
  void joinsBuffersReturnedInAnyOrder() {
    List<MemorySegment> buffers = new ArrayList<>();
    for (int i = 0; i < POOL_BYTES / BufferPool.MIN_BYTES; i++) {
      buffers.add(pool.take(1));
    }
    assertThat(pool.freeBytes()).isZero();
    for (int parity = 0; parity < 2; parity++) {
      for (int i = parity; i < buffers.size(); i += 2) {
        pool.give(buffers.get(i));
      }
    }
    assertThat(pool.take(POOL_BYTES).byteSize()).isEqualTo(POOL_BYTES);
  }

  @Test
  void takesBackTheQuartersOfABuffer() {
    int quarter = POOL_BYTES / 4;
    MemorySegment whole = pool.take(POOL_BYTES);
    pool.give(whole.asSlice(2L * quarter, 2L * quarter));
    pool.give(whole.asSlice(quarter, quarter));
    assertThat(pool.freeBytes()).isEqualTo(3L * quarter);
    pool.give(whole.asSlice(0, quarter));
    assertThat(pool.take(POOL_BYTES).byteSize()).isEqualTo(POOL_BYTES);
  }

  @Test
  void aPoolThatIsNotAPowerOfTwoIsUsedCompletely() {
    try (OffHeapArena other = new OffHeapArena(new MemoryBudget(7 * BufferPool.MIN_BYTES))) {
      BufferPool odd = new BufferPool(other, 7 * BufferPool.MIN_BYTES);
      List<MemorySegment> lent = new ArrayList<>();
      for (int blocks : new int[] {1, 4, 2}) {
        lent.add(odd.take(blocks * BufferPool.MIN_BYTES));
      }
      assertThat(odd.tryTake(1)).isNull();
      lent.forEach(odd::give);
      assertThat(odd.freeBytes()).isEqualTo(7 * BufferPool.MIN_BYTES);
      assertThat(odd.tryTake(8 * BufferPool.MIN_BYTES)).isNull();
      assertThat(odd.tryTake(4 * BufferPool.MIN_BYTES)).isNotNull();
    }
  }

  @Tag("slow")
  @Test
  void lentBuffersNeverOverlapAndNoneGetsLost() {
    long seed = Long.getLong("faster.seed", System.nanoTime());
    SplittableRandom random = new SplittableRandom(seed);
    List<Lent> lent = new ArrayList<>();
    for (int step = 0; step < STEPS; step++) {
      int bytes = random.nextInt(1, POOL_BYTES / (1 << random.nextInt(6)) + 1);
      MemorySegment buffer = random.nextBoolean() ? pool.tryTake(bytes) : null;
      if (buffer != null) {
        assertThat(buffer.byteSize()).as("seed=%d", seed).isGreaterThanOrEqualTo(bytes);
        byte mark = (byte) random.nextInt();
        buffer.fill(mark);
        lent.add(new Lent(buffer, mark));
      } else if (!lent.isEmpty()) {
        free(lent.remove(random.nextInt(lent.size())), seed);
      }
      long lentBytes = lent.stream().mapToLong(each -> each.buffer().byteSize()).sum();
      assertThat(pool.freeBytes() + lentBytes).as("seed=%d", seed).isEqualTo(POOL_BYTES);
    }
    lent.forEach(each -> free(each, seed));
    assertThat(pool.tryTake(POOL_BYTES)).as("seed=%d", seed).isNotNull();
  }

  private void free(Lent lent, long seed) {
    for (long at = 0; at < lent.buffer().byteSize(); at++) {
      if (lent.buffer().get(ValueLayout.JAVA_BYTE, at) != lent.mark()) {
        throw new AssertionError("buffers overlap: offset=" + at + ", seed=" + seed);
      }
    }
    pool.give(lent.buffer());
  }
}
