package io.fasterkv.memory;

/**
 * Checks that the calling thread has some 20 KiB of stack left, twice as much in the interpreter,
 * before it begins work that a {@link StackOverflowError} must not interrupt. The check takes about
 * a microsecond, too long for operations in memory.
 */
public final class StackReserve {
  private static final int CALLS = 256;

  private StackReserve() {}

  /**
   * Returns if the stack has room.
   *
   * @throws StackOverflowError if it has not; nothing has changed then
   */
  public static void require() {
    touch(CALLS, 1, 2, 3, 4, 5);
  }

  /** All arguments are used after the call, so that each call keeps them on the stack. */
  private static long touch(int calls, long a, long b, long c, long d, long e) {
    if (calls == 0) {
      return a;
    }
    return touch(calls - 1, b + calls, c, d, e, a) + (a ^ b) + (c ^ d) + (e ^ calls);
  }
}
