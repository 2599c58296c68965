package io.fasterkv.memory;

/**
 * A check that the calling thread has some stack left, before it begins what must not be cut short
 * by a {@link StackOverflowError}: some 20 KiB, or twice as much in the interpreter. It takes about
 * a microsecond, so it is not for operations in memory.
 */
public final class StackReserve {
  private static final int CALLS = 256;

  private StackReserve() {}

  /**
   * Returns if the stack has room.
   *
   * @throws StackOverflowError if it has not, with nothing done
   */
  public static void require() {
    touch(CALLS, 1, 2, 3, 4, 5);
  }

  /** All arguments are used after the call: so each call takes room for all of them. */
  private static long touch(int calls, long a, long b, long c, long d, long e) {
    if (calls == 0) {
      return a;
    }
    return touch(calls - 1, b + calls, c, d, e, a) + (a ^ b) + (c ^ d) + (e ^ calls);
  }
}
