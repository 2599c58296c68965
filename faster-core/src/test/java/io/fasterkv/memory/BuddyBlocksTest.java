package io.fasterkv.memory;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.fasterkv.Seeds;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("seeds")
class BuddyBlocksTest {
  private static final int STEPS = 20_000;
  private static final int MOST_ORDER = 8;

  private record Block(long at, int order) {
    long end() {
      return at + BuddyBlocks.blockBytes(order);
    }
  }

  static LongStream seeds() {
    return Seeds.fresh(20);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void blocksNeverOverlapAndAllAreJoinedAgain(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    long bytes = 512L * random.nextInt(1, 3000);
    BuddyBlocks blocks = new BuddyBlocks(bytes);
    List<Block> taken = new ArrayList<>();
    for (int step = 0; step < 2_000; step++) {
      step(blocks, taken, random);
      long sum = taken.stream().mapToLong(it -> it.end() - it.at).sum();
      assertThat(blocks.freeBytes()).isEqualTo(bytes / 512 * 512 - sum);
    }
    taken.sort(Comparator.comparingLong(Block::at));
    for (int i = 1; i < taken.size(); i++) {
      assertThat(taken.get(i).at).isGreaterThanOrEqualTo(taken.get(i - 1).end());
    }
    assertThat(taken).allMatch(it -> it.end() <= bytes);
    taken.forEach(it -> blocks.give(it.at, it.order));
    int largest = 63 - Long.numberOfLeadingZeros(bytes / 512);
    assertThat(blocks.tryTake(largest)).as("joined again").isZero();
  }

  private static void step(BuddyBlocks blocks, List<Block> taken, SplittableRandom random) {
    if (!taken.isEmpty() && random.nextInt(9) < 4) {
      Block given = taken.remove(random.nextInt(taken.size()));
      blocks.give(given.at, given.order);
      return;
    }
    int order = random.nextInt(MOST_ORDER);
    long block = blocks.tryTake(order);
    if (block != BuddyBlocks.NONE) {
      taken.add(new Block(block, order));
    }
  }

  /** A heap that was full in the middle of a split once lost the block. */
  @Test
  void takingAndGivingAllocateNothing() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    BuddyBlocks blocks = new BuddyBlocks(1 << 20);
    long[] taken = new long[64];
    takeAndGive(blocks, taken, new SplittableRandom(1));
    SplittableRandom random = new SplittableRandom(1);
    long before = threads.getCurrentThreadAllocatedBytes();
    takeAndGive(blocks, taken, random);
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(STEPS);
  }

  /** Uses blocks of the smallest size, so that each step splits or joins. */
  private static void takeAndGive(BuddyBlocks blocks, long[] taken, SplittableRandom random) {
    Arrays.fill(taken, BuddyBlocks.NONE);
    for (int step = 0; step < STEPS; step++) {
      int place = random.nextInt(taken.length);
      if (taken[place] == BuddyBlocks.NONE) {
        taken[place] = blocks.tryTake(0);
      } else {
        blocks.give(taken[place], 0);
        taken[place] = BuddyBlocks.NONE;
      }
    }
    for (long block : taken) {
      if (block != BuddyBlocks.NONE) {
        blocks.give(block, 0);
      }
    }
  }
}
