package io.fasterkv.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The heap of the C library, from which the JVM has its ordinary memory. It has a part for each few
 * threads, which keeps what it once had: were each store's memory taken by the thread that opens
 * it, stores that come and go would leave some in every part. So one thread takes it for all.
 *
 * <p>That thread knows nothing but classes of the JDK, and ends when nobody can reach this class
 * any more: a job's class loader is not kept by it.
 */
final class NativeHeap {
  /** The GNU library asks the kernel for so much at once, and gives it back when it is freed. */
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
   * Zeroed memory that lives as long as {@code arena}, a shared one. Any thread; an interrupt does
   * not end it.
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
