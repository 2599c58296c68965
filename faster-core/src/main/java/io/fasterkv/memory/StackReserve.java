package io.fasterkv.memory;

/**
 * Checks that the calling thread has some 20 KiB of stack left, more in the interpreter, before it
 * begins work that a {@link StackOverflowError} must not interrupt. The check takes about a
 * microsecond, too long for operations in memory.
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
    touch(CALLS, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
  }

  /**
   * Like {@link #require}, for 4 KiB and without a cost: enough to release what the caller is about
   * to claim in memory. A release may need more stack than its claim, since the compiler may have
   * compiled one and not yet the other.
   *
   * <p>The interpreter makes room for all local variables of a method before it enters it. Compiled
   * code makes that room too, since it may have to continue in the interpreter.
   *
   * @param anything a number that the compiler does not know
   * @throws StackOverflowError if the stack has no room; nothing has changed then
   */
  @SuppressWarnings("UnusedVariable")
  public static void requireForRelease(int anything) {
    long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, aa, ab, ac, ad, ae, af;
    long b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, ba, bb, bc, bd, be, bf;
    long c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, ca, cb, cc, cd, ce, cf;
    long d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, da, db, dc, dd, de, df;
    long e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, ea, eb, ec, ed, ee, ef;
    long f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, fa, fb, fc, fd, fe, ff;
    long g0, g1, g2, g3, g4, g5, g6, g7, g8, g9, ga, gb, gc, gd, ge, gf;
    long h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, ha, hb, hc, hd, he, hf;
    long j0, j1, j2, j3, j4, j5, j6, j7, j8, j9, ja, jb, jc, jd, je, jf;
    long k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, ka, kb, kc, kd, ke, kf;
    long l0, l1, l2, l3, l4, l5, l6, l7, l8, l9, la, lb, lc, ld, le, lf;
    long m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, ma, mb, mc, md, me, mf;
    long n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, na, nb, nc, nd, ne, nf;
    long o0, o1, o2, o3, o4, o5, o6, o7, o8, o9, oa, ob, oc, od, oe, of;
    long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, pa, pb, pc, pd, pe, pf;
    long q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, qa, qb, qc, qd, qe, qf;
    if (anything == Integer.MIN_VALUE) {
      // The compiler keeps this, and with it what the interpreter would need.
      throw new IllegalArgumentException("anything=" + anything);
    }
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
