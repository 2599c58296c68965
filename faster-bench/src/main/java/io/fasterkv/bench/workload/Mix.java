package io.fasterkv.bench.workload;

/** Spreads numbers over all 64 bits. */
public final class Mix {
  private Mix() {}

  /** A bijection of 64 bits: two multiplications between three folds. */
  public static long mix(long number) {
    long mixed = (number ^ number >>> 32) * 0xD6E8FEB86659FD93L;
    mixed = (mixed ^ mixed >>> 32) * 0xD6E8FEB86659FD93L;
    return mixed ^ mixed >>> 32;
  }
}
