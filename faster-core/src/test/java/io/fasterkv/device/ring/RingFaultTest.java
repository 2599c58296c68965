package io.fasterkv.device.ring;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.Seeds;
import io.fasterkv.device.LogDevice;
import io.fasterkv.device.ReadQueue;
import io.fasterkv.device.file.FileDevice;
import io.fasterkv.memory.OffHeapArena;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests reads with a kernel that transfers less than requested, interrupts, refuses temporarily,
 * fails, throws, or reports late, in another order, and twice: a successful read has all its bytes,
 * and each read that was started ends once.
 */
@Tag("seeds")
class RingFaultTest {
  private static final int DEPTH = 16;
  private static final int BLOCK_BYTES = 4096;
  private static final int BLOCKS = 64;
  private static final int READS = 2000;
  private static final int EIO = 5;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(6);
  }

  /** A ring with a kernel that often fails. */
  private static final class BadRing extends Ring {
    private record Ended(long tag, int result) {}

    private final SplittableRandom random;
    private final Deque<Ended> kept = new ArrayDeque<>();
    private Ended current = new Ended(0, 0);

    BadRing(SplittableRandom random) throws IOException {
      super(64);
      this.random = random;
    }

    @Override
    void read(int file, long position, MemorySegment target, long tag) {
      long blocks = target.byteSize() / BLOCK_BYTES;
      long some = blocks > 1 && random.nextBoolean() ? random.nextLong(1, blocks) : blocks;
      super.read(file, position, target.asSlice(0, some * BLOCK_BYTES), tag);
    }

    @Override
    int enter(int wanted) {
      return switch (random.nextInt(10)) {
        case 0 -> -EINTR;
        case 1 -> -EAGAIN;
        case 2 -> -EBUSY;
        case 3 -> throw new StackOverflowError("on purpose");
        default -> super.enter(kept.isEmpty() ? wanted : 0);
      };
    }

    @Override
    boolean isCompletionDelayed() {
      return super.isCompletionDelayed() || !kept.isEmpty();
    }

    @Override
    boolean next() {
      while (super.next()) {
        Ended now = new Ended(super.tag(), super.result());
        switch (random.nextInt(12)) {
          case 0 -> kept.add(new Ended(now.tag, -EINTR));
          case 1 -> kept.add(new Ended(now.tag, -EAGAIN));
          case 2 -> kept.add(new Ended(now.tag, -EIO));
          case 3 -> {
            kept.add(now);
            kept.add(now);
          }
          case 4 -> kept.addFirst(now);
          default -> kept.add(now);
        }
      }
      if (kept.isEmpty() || random.nextInt(4) == 0) {
        return false;
      }
      current = kept.remove();
      return true;
    }

    @Override
    long tag() {
      return current.tag;
    }

    @Override
    int result() {
      return current.result;
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void everyReadEndsOnceAndWholeOrFailed(long seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    MemorySegment bytes = memory(BLOCKS * BLOCK_BYTES);
    for (long at = 0; at < bytes.byteSize(); at += Long.BYTES) {
      bytes.set(ValueLayout.JAVA_LONG, at, random.nextLong());
    }
    try (UringDevice device = UringDeviceTest.uring(new FileDevice(directory, 1 << 20), 1)) {
      write(device, bytes);
      int failed = 0;
      try (RingReads reads = new RingReads(device, new BadRing(random.split()), DEPTH)) {
        failed = someReads(reads, random, bytes);
      }
      assertThat(failed).isBetween(1, READS / 2);
    }
  }

  /** Returns the number of reads that failed. */
  private static int someReads(RingReads reads, SplittableRandom random, MemorySegment bytes) {
    MemorySegment[] targets = new MemorySegment[DEPTH];
    long[] from = new long[DEPTH];
    int failed = 0;
    int underWay = 0;
    for (int started = 0; started < READS || underWay > 0; ) {
      int tag = random.nextInt(DEPTH);
      if (started < READS && targets[tag] == null) {
        int blocks = random.nextInt(1, 5);
        from[tag] = (long) BLOCK_BYTES * random.nextInt(BLOCKS - blocks);
        targets[tag] = memory(blocks * BLOCK_BYTES);
        reads.read(tag, from[tag], targets[tag]);
        started++;
        underWay++;
        continue;
      }
      int ended = next(reads, random.nextBoolean());
      if (ended == ReadQueue.NONE) {
        continue;
      }
      MemorySegment target = targets[ended];
      assertThat(target).as("a read in progress").isNotNull();
      if (reads.failure() == null) {
        MemorySegment wanted = bytes.asSlice(from[ended], target.byteSize());
        assertThat(target.mismatch(wanted)).isEqualTo(-1);
      } else {
        assertThat(reads.failure()).hasMessageContaining("errno=5").hasMessageContaining("offset=");
        failed++;
      }
      targets[ended] = null;
      underWay--;
    }
    return failed;
  }

  private static int next(RingReads reads, boolean wait) {
    try {
      return reads.next(wait);
    } catch (StackOverflowError e) {
      return ReadQueue.NONE;
    }
  }

  private static void write(LogDevice device, MemorySegment bytes) throws Exception {
    CompletableFuture<IOException> done = new CompletableFuture<>();
    device.write(0, bytes, done::complete);
    assertThat(done.get()).isNull();
  }

  private static MemorySegment memory(int bytes) {
    return Arena.ofAuto().allocate(bytes, OffHeapArena.PAGE_ALIGNMENT);
  }
}
