package io.fasterkv.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.function.LongFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

class NativeHeapTest {
  /** The GNU C library aligns the parts of its heap to this. */
  private static final int LOG_PART_BYTES = 26;

  /** A thread whose part is full continues in another part. */
  private static final int MOST_PARTS_OF_ONE = 2;

  private static final int THREADS = 64;

  /** Less than the size for which the library calls the kernel directly. */
  private static final long BYTES = 32 << 10;

  @Test
  void memoryIsZeroAndAligned() {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = NativeHeap.allocate(arena, 3 << 20, OffHeapArena.PAGE_ALIGNMENT);

      assertThat(memory.byteSize()).isEqualTo(3 << 20);
      assertThat(memory.address() % OffHeapArena.PAGE_ALIGNMENT).isZero();
      assertThat(memory.mismatch(MemorySegment.ofArray(new byte[3 << 20]))).isEqualTo(-1);
    }
  }

  /**
   * The requesting threads must not allocate the memory: it would come from many areas, as shown
   * here.
   */
  @Test
  @EnabledOnOs(OS.LINUX)
  void oneThreadTakesTheMemoryOfAll() throws Exception {
    try (Arena arena = Arena.ofShared()) {
      Set<Long> ours = parts(bytes -> NativeHeap.allocate(arena, bytes, Long.BYTES));
      Set<Long> theirs = parts(bytes -> arena.allocate(bytes, Long.BYTES));

      assertThat(ours).hasSizeLessThanOrEqualTo(MOST_PARTS_OF_ONE);
      assertThat(theirs).hasSizeGreaterThan(MOST_PARTS_OF_ONE);
    }
  }

  @Test
  void anInterruptStaysAndEndsNothing() {
    try (Arena arena = Arena.ofShared()) {
      Thread.currentThread().interrupt();

      assertThat(NativeHeap.allocate(arena, BYTES, Long.BYTES).byteSize()).isEqualTo(BYTES);
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @Test
  void errorsAreTheArenas() {
    Arena closed = Arena.ofShared();
    closed.close();

    assertThatThrownBy(() -> NativeHeap.allocate(closed, BYTES, Long.BYTES))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("Already closed");
    assertThatThrownBy(() -> NativeHeap.allocate(closed, 64 << 20, Long.BYTES))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("Already closed");
    try (Arena arena = Arena.ofShared()) {
      assertThatThrownBy(() -> NativeHeap.allocate(arena, Long.MAX_VALUE >> 1, Long.BYTES))
          .isInstanceOf(OutOfMemoryError.class);
    }
  }

  /** The parts of the heap that contain the memory of threads that live at the same time. */
  private static Set<Long> parts(LongFunction<MemorySegment> allocation) throws Exception {
    Set<Long> parts = ConcurrentHashMap.newKeySet();
    CyclicBarrier all = new CyclicBarrier(THREADS);
    var threads =
        IntStream.range(0, THREADS)
            .mapToObj(i ->
                Thread.ofPlatform()
                    .start(() -> {
                      parts.add(allocation.apply(BYTES).address() >>> LOG_PART_BYTES);
                      await(all);
                    }))
            .toList();
    for (Thread thread : threads) {
      thread.join();
    }
    return parts;
  }

  private static void await(CyclicBarrier all) {
    try {
      all.await();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
