package io.fasterkv.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Allocates from the heap of the C library, which provides the JVM's ordinary memory. The library
 * keeps an area for every few threads and retains memory freed in it: if each opening thread
 * allocated its store's memory, closed stores would leave some in every area. So one thread makes
 * all allocations.
 *
 * <p>That thread references only JDK classes and ends when this class becomes unreachable, so it
 * does not retain a job's class loader.
 */
final class NativeHeap {
  /**
   * The GNU library requests allocations of at least this size directly from the kernel, and
   * returns them when they are freed.
   */
  private static final long LARGE_BYTES = 32 << 20;

  private static final ExecutorService TAKER =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform()
              .daemon()
              .name("faster-memory")
              .inheritInheritableThreadLocals(false)
              .factory());

  private NativeHeap() {}

  /**
   * Allocates zeroed memory that lives as long as {@code arena}, which must be shared. For any
   * thread; an interrupt does not end it.
   */
  static MemorySegment allocate(Arena arena, long bytes, long alignment) {
    if (bytes >= LARGE_BYTES) {
      return arena.allocate(bytes, alignment);
    }
    try {
      return CompletableFuture.supplyAsync(() -> arena.allocate(bytes, alignment), TAKER).join();
    } catch (CompletionException e) {
      throw unwrapped(e);
    }
  }

  private static RuntimeException unwrapped(CompletionException e) {
    switch (e.getCause()) {
      case Error error -> throw error;
      case RuntimeException cause -> throw cause;
      case null, default -> throw e;
    }
  }
}
