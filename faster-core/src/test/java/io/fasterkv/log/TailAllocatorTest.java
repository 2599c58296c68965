package io.fasterkv.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * Tests threads that allocate and turn pages concurrently, with a detector that checks every
 * allocation.
 */
class TailAllocatorTest {
  private static final int PAGE_BITS = 8;
  private static final long PAGE_BYTES = 1L << PAGE_BITS;
  private static final int THREADS = 4;
  private static final int ALLOCATIONS = 50_000;
  private static final int BROKEN_ROUNDS = 200;
  private static final int WORDS_MAX = 16;

  /** The methods of an allocator that the detector needs. */
  private interface Tail {
    long allocate(long bytes);

    long page();

    boolean turn(long page);
  }

  private record Range(long from, long until) {}

  private record Run(List<Range> ranges, List<Long> turns) {}

  @Test
  void noByteIsHandedOutTwiceNorAcrossPagesAndEachPageIsTurnedOnce() throws Exception {
    TailAllocator tail = new TailAllocator(PAGE_BITS, 64);
    Run run = run(real(tail), 64, ALLOCATIONS);
    assertThat(defect(run, 64)).isEqualTo("none");
    assertThat(run.turns()).hasSize((int) tail.page());
  }

  @Test
  void theDetectorCatchesAnAddThatIsNotAtomic() throws Exception {
    String defect = "none";
    for (int round = 0; round < BROKEN_ROUNDS && defect.equals("none"); round++) {
      defect = defect(run(new NonAtomicTail(), 0, ALLOCATIONS / 10), 0);
    }
    assertThat(defect).isNotEqualTo("none");
  }

  @Test
  void onlyOneOfManyTurnsAPage() throws Exception {
    TailAllocator tail = new TailAllocator(PAGE_BITS, 0);
    int pages = 20_000;
    List<Long> wins =
        inThreads(thread -> {
          long won = 0;
          for (long page = 0; page < pages; page++) {
            won += tail.turn(page) ? 1 : 0;
          }
          return won;
        });
    assertThat(wins.stream().mapToLong(Long::longValue).sum()).isEqualTo(tail.page());
  }

  @Test
  void aRecordThatDoesNotFitLeavesTheRestOfItsPageUnused() {
    TailAllocator tail = new TailAllocator(PAGE_BITS, 0);
    assertThat(tail.allocate(PAGE_BYTES - 8)).isZero();
    assertThat(tail.allocate(16)).isEqualTo(TailAllocator.PAGE_FULL);
    assertThat(tail.address()).isEqualTo(PAGE_BYTES - 8);
    assertThat(tail.allocate(8)).isEqualTo(PAGE_BYTES - 8);
    assertThat(tail.address()).isEqualTo(PAGE_BYTES);
    assertThat(tail.turn(0)).isTrue();
    assertThat(tail.turn(0)).isFalse();
    assertThat(tail.allocate(PAGE_BYTES)).isEqualTo(PAGE_BYTES);
  }

  /** Some threads may use even pages only, and one turns pages: the odd pages remain empty. */
  @Test
  void bytesAreAllocatedOnlyOnTheNamedPage() throws Exception {
    TailAllocator tail = new TailAllocator(PAGE_BITS, 0);
    int pages = 20_000;
    List<Long> strays =
        inThreads(thread -> {
          long stray = 0;
          for (long page = tail.page(); page < pages; page = tail.page()) {
            if (thread == 0) {
              tail.turn(page);
            } else if (page % 2 == 0) {
              long address = tail.allocateOn(page, 8, 16);
              stray += address >= 0 && address >>> PAGE_BITS != page ? 1 : 0;
            }
          }
          return stray;
        });
    assertThat(strays).containsOnly(0L);
  }

  @Test
  void asManyBytesAsAPageHasLeftAreGiven() {
    TailAllocator tail = new TailAllocator(PAGE_BITS, 0);
    assertThat(tail.allocateOn(0, 8, PAGE_BYTES - 24)).isZero();
    assertThat(tail.allocateOn(1, 8, 8)).isEqualTo(TailAllocator.PAGE_FULL);
    assertThat(tail.allocateOn(0, 32, 64)).isEqualTo(TailAllocator.PAGE_FULL);
    assertThat(tail.allocateOn(0, 16, 64)).isEqualTo(PAGE_BYTES - 24);
    assertThat(tail.address()).isEqualTo(PAGE_BYTES);
    assertThat(tail.allocateOn(0, 8, 8)).isEqualTo(TailAllocator.PAGE_FULL);
  }

  @Test
  void alignmentReturnsTheGap() {
    TailAllocator tail = new TailAllocator(PAGE_BITS, 64);
    assertThat(tail.align(64)).isEqualTo(64);
    tail.allocate(8);
    assertThat(tail.align(64)).isEqualTo(128 + 56);
    assertThat(tail.address()).isEqualTo(128);
    tail.allocate(PAGE_BYTES - 128);
    assertThat(tail.align(64)).isEqualTo(PAGE_BYTES);
  }

  private static Tail real(TailAllocator tail) {
    return new Tail() {
      @Override
      public long allocate(long bytes) {
        return tail.allocate(bytes);
      }

      @Override
      public long page() {
        return tail.page();
      }

      @Override
      public boolean turn(long page) {
        return tail.turn(page);
      }
    };
  }

  /** Has the tail in one word as well, but adds with a load and a store. */
  private static final class NonAtomicTail implements Tail {
    private static final int OFFSET_BITS = PAGE_BITS + 16;

    private final AtomicLong tail = new AtomicLong();

    @Override
    public long allocate(long bytes) {
      long before = tail.get();
      long offset = before & ((1L << OFFSET_BITS) - 1);
      if (offset + bytes > PAGE_BYTES) {
        return TailAllocator.PAGE_FULL;
      }
      if (offset % (8 * bytes) < bytes) {
        // Lets the other thread run here, however busy the machine is.
        Thread.yield();
      }
      tail.set(before + bytes);
      return ((before >>> OFFSET_BITS) << PAGE_BITS) + offset;
    }

    @Override
    public long page() {
      return tail.get() >>> OFFSET_BITS;
    }

    @Override
    public boolean turn(long page) {
      long word = tail.get();
      return word >>> OFFSET_BITS == page && tail.compareAndSet(word, (page + 1) << OFFSET_BITS);
    }
  }

  private static Run run(Tail tail, long seed, int allocations) throws Exception {
    List<Run> parts = inThreads(thread -> allocate(tail, seed + thread, allocations));
    Run all = new Run(new ArrayList<>(), new ArrayList<>());
    parts.forEach(part -> {
      all.ranges().addAll(part.ranges());
      all.turns().addAll(part.turns());
    });
    return all;
  }

  private static Run allocate(Tail tail, long seed, int allocations) {
    Run run = new Run(new ArrayList<>(), new ArrayList<>());
    SplittableRandom random = new SplittableRandom(seed);
    while (run.ranges().size() < allocations) {
      long bytes = 8L * random.nextInt(1, WORDS_MAX);
      long page = tail.page();
      long address = tail.allocate(bytes);
      if (address != TailAllocator.PAGE_FULL) {
        run.ranges().add(new Range(address, address + bytes));
      } else if (tail.turn(page)) {
        run.turns().add(page);
      }
    }
    return run;
  }

  /** The first error in the allocated ranges, or "none". */
  private static String defect(Run run, long start) {
    List<Range> ranges = new ArrayList<>(run.ranges());
    ranges.sort((a, b) -> Long.compare(a.from(), b.from()));
    long end = start;
    for (Range range : ranges) {
      if (range.from() < end) {
        return "handed out twice: address=" + range.from();
      }
      if (range.from() >>> PAGE_BITS != (range.until() - 1) >>> PAGE_BITS) {
        return "across pages: address=" + range.from();
      }
      end = range.until();
    }
    long distinct = run.turns().stream().distinct().count();
    return distinct == run.turns().size() ? "none" : "a page was turned twice";
  }

  private static <T> List<T> inThreads(Function<Integer, T> task) throws Exception {
    List<Future<T>> futures = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      for (int i = 0; i < THREADS; i++) {
        int thread = i;
        futures.add(threads.submit(() -> task.apply(thread)));
      }
    }
    List<T> results = new ArrayList<>();
    for (Future<T> future : futures) {
      results.add(future.get());
    }
    return results;
  }
}
