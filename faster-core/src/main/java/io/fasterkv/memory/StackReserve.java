package io.fasterkv.memory;

/**
 * Checks that the calling thread has some 20 KiB of stack left, more in the interpreter, before it
 * begins work that a {@link StackOverflowError} must not interrupt. The check takes about a
 * microsecond, too long for operations in memory.
 */
public final class StackReserve {
  private static final int CALLS = 256;
  private static final int FEW_CALLS = 24;

  private StackReserve() {}

  /**
   * Returns if the stack has room.
   *
   * @throws StackOverflowError if it has not; nothing has changed then
   */
  public static void require() {
    touch(CALLS, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
  }

  /**
   * Like {@link #require}, for about 2 KiB and in a tenth of the time: enough to release what the
   * caller is about to claim.
   */
  public static void requireForRelease() {
    touch(FEW_CALLS, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
  }

  /**
   * Uses all arguments after the call, so that each call keeps them on the stack even where the
   * compiler inlines several calls into one frame.
   */
  @SuppressWarnings("TooManyParameters")
  private static long touch(
      int calls, long a, long b, long c, long d, long e, long f, long g, long h, long i, long j) {
    if (calls == 0) {
      return a;
    }
    long below = touch(calls - 1, b + calls, c, d, e, f, g, h, i, j, a);
    return below + (a ^ b) + (c ^ d) + (e ^ f) + (g ^ h) + (i ^ j) + calls;
  }
}
