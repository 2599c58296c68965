package io.fasterkv;

import io.fasterkv.api.MergeableLongFunctions;
import io.fasterkv.api.Status;

/**
 * A value of 8 bytes that shows which inputs were applied in which order: a polynomial hash of the
 * sequence of inputs in the low half, and its power in the high half, so that two hashes can be
 * joined. Joining is associative and not commutative.
 */
final class ChainHash implements MergeableLongFunctions<ChainHash.Result> {
  private static final int FACTOR = 0x9E3779B1;

  /** The result of a pending read. */
  static final class Result {
    Status status = Status.PENDING;
    long value;
  }

  static long of(long input) {
    return pack(FACTOR, (int) input);
  }

  static long join(long older, long newer) {
    int power = power(older) * power(newer);
    return pack(power, (int) older * power(newer) + (int) newer);
  }

  private static int power(long value) {
    return (int) (value >>> Integer.SIZE);
  }

  private static long pack(int power, int hash) {
    return (long) power << Integer.SIZE | (hash & 0xFFFF_FFFFL);
  }

  @Override
  public long initialUpdater(long key, long input) {
    return of(input);
  }

  @Override
  public long updater(long key, long input, long oldValue) {
    return join(oldValue, of(input));
  }

  @Override
  public long merge(long key, long older, long newer) {
    return join(older, newer);
  }

  @Override
  public void completionCallback(Status status, long key, long value, Result result) {
    if (result != null) {
      result.status = status;
      result.value = value;
    }
  }
}
