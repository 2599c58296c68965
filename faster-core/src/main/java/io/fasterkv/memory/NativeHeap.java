package io.fasterkv.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * The heap of the C library, from which the JVM has its ordinary memory. It has a part for each few
 * threads, which keeps what it once had: were each store's memory taken by the thread that opens
 * it, stores that come and go would leave some in every part. It is taken by the threads that run
 * virtual ones instead, of which there is one a processor at most.
 */
final class NativeHeap {
  private NativeHeap() {}

  /**
   * Zeroed memory that lives as long as {@code arena}, a shared one. Any thread; an interrupt does
   * not end it.
   */
  static MemorySegment allocate(Arena arena, long bytes, long alignment) {
    try {
      return CompletableFuture.supplyAsync(
              () -> arena.allocate(bytes, alignment), Thread::startVirtualThread)
          .join();
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
