package io.fasterkv.record;

/** Mixes a {@code long} key so that its high and low bits are equally distributed. */
public final class LongHash {
  private LongHash() {}

  /** The 64-bit finalizer of MurmurHash3, a bijection. */
  public static long hash(long key) {
    long h = key;
    h = (h ^ h >>> 33) * 0xFF51AFD7ED558CCDL;
    h = (h ^ h >>> 33) * 0xC4CEB9FE1A85EC53L;
    return h ^ h >>> 33;
  }
}
