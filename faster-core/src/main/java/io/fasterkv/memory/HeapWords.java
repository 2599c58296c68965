package io.fasterkv.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Words that threads share in an array on the heap, with the memory order in the method's name: an
 * array in a field of its owner is one load nearer than one in an {@code AtomicLongArray}.
 */
public final class HeapWords {
  private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);

  private HeapWords() {}

  public static long loadVolatile(long[] words, int at) {
    return (long) WORD.getVolatile(words, at);
  }

  public static void storeVolatile(long[] words, int at, long value) {
    WORD.setVolatile(words, at, value);
  }

  public static void storeRelease(long[] words, int at, long value) {
    WORD.setRelease(words, at, value);
  }
}
