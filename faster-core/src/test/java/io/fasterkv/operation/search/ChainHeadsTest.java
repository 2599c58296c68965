package io.fasterkv.operation.search;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.memory.BufferPool;
import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OffHeapArena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ChainHeadsTest {
  private static final int POOL_BYTES = 64 * BufferPool.MIN_BYTES;
  private static final int LONG = ChainHeads.LONG_WALK;

  private final OffHeapArena arena = new OffHeapArena(new MemoryBudget(POOL_BYTES));
  private final BufferPool pool = new BufferPool(arena, POOL_BYTES);
  private final ChainHeads heads = new ChainHeads(pool, 0);

  @AfterEach
  void close() {
    heads.close();
    assertThat(pool.freeBytes()).isEqualTo(POOL_BYTES);
    arena.close();
  }

  @Test
  void takesNoMemoryForShortWalks() {
    heads.note(1, 64, LONG - 1);
    assertThat(heads.find(1)).isEqualTo(ChainHeads.UNKNOWN);
    assertThat(pool.freeBytes()).isEqualTo(POOL_BYTES);
    heads.note(1, 64, LONG);
    assertThat(heads.find(1)).isEqualTo(64);
    assertThat(pool.freeBytes()).isEqualTo(POOL_BYTES - POOL_BYTES / 4);
  }

  @Test
  void knowsTheEndOfAChainAndTheHighestAddress() {
    heads.note(0, 0, LONG);
    heads.note(-1, (1L << 48) - 8, Long.MAX_VALUE);
    assertThat(heads.find(0)).isZero();
    assertThat(heads.find(-1)).isEqualTo((1L << 48) - 8);
  }

  @Test
  void leavesOthersTheirMemory() {
    ChainHeads modest = new ChainHeads(pool, POOL_BYTES);
    modest.note(1, 64, LONG);
    assertThat(modest.find(1)).isEqualTo(64);
    assertThat(pool.freeBytes()).isEqualTo(POOL_BYTES - BufferPool.MIN_BYTES);
    modest.close();
  }

  @Test
  void knowsNothingWithoutMemory() {
    MemorySegment all = pool.take(POOL_BYTES);
    heads.note(1, 64, LONG);
    assertThat(heads.find(1)).isEqualTo(ChainHeads.UNKNOWN);
    pool.give(all);
    heads.note(1, 64, LONG);
    assertThat(heads.find(1)).isEqualTo(64);
  }

  @Test
  void findsNotedAddressesOrNone() {
    long seed = Long.getLong("faster.seed", System.nanoTime());
    SplittableRandom random = new SplittableRandom(seed);
    Map<Long, Long> noted = new HashMap<>();
    int known = 0;
    for (int step = 0; step < 20_000; step++) {
      long hash = random.nextInt(3000);
      long found = heads.find(hash);
      if (found == ChainHeads.UNKNOWN) {
        long address = random.nextLong(1L << 48);
        heads.note(hash, address, LONG + random.nextInt(1000));
        noted.put(hash, address);
      } else {
        known++;
        assertThat(found).as("seed=%d", seed).isEqualTo(noted.get(hash));
      }
    }
    assertThat(known).as("seed=%d", seed).isPositive();
  }

  @Test
  void keepsTheLongestWalks() {
    heads.note(1, 64, 1L << 15);
    for (long hash = 2; hash < 2000; hash++) {
      heads.note(hash, 128, LONG);
    }
    assertThat(heads.find(1)).isEqualTo(64);
  }
}
