package io.fasterkv.cpr;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.MergeableLongFunctions;
import io.fasterkv.api.RecordView;
import java.util.SplittableRandom;

/** Sums whose updates sometimes throw. Not safe for concurrent use. */
final class FlakyFunctions extends SumFunctions {
  private static final int ONE_IN = 4;

  private final SplittableRandom random;
  private boolean mayThrow;

  /** The exception that an update throws. */
  static final class Flaw extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  FlakyFunctions(SplittableRandom random, int maxBytes) {
    super(maxBytes);
    this.random = random;
  }

  void mayThrow(boolean now) {
    mayThrow = now;
  }

  private void flaw() {
    if (mayThrow && random.nextInt(ONE_IN) == 0) {
      throw new Flaw();
    }
  }

  @Override
  public void initialUpdater(
      ByteSpan key, Long stamp, ByteSpan value, Result output, RecordView record) {
    flaw();
    super.initialUpdater(key, stamp, value, output, record);
  }

  @Override
  public boolean inPlaceUpdater(
      ByteSpan key, Long stamp, ByteSpan value, Result output, RecordView record) {
    flaw();
    return super.inPlaceUpdater(key, stamp, value, output, record);
  }

  @Override
  public int copyBytes(ByteSpan key, Long stamp, ByteSpan oldValue) {
    flaw();
    return super.copyBytes(key, stamp, oldValue);
  }

  @Override
  public void copyUpdater(
      ByteSpan key,
      Long stamp,
      ByteSpan oldValue,
      ByteSpan newValue,
      Result output,
      RecordView record) {
    flaw();
    super.copyUpdater(key, stamp, oldValue, newValue, output, record);
  }

  /** The same for {@code long} values. */
  MergeableLongFunctions<Object> longs() {
    MergeableLongFunctions<Object> sum = LongFunctions.sum();
    return new MergeableLongFunctions<>() {
      @Override
      public long initialUpdater(long key, long input) {
        flaw();
        return sum.initialUpdater(key, input);
      }

      @Override
      public long updater(long key, long input, long oldValue) {
        flaw();
        return sum.updater(key, input, oldValue);
      }

      @Override
      public long merge(long key, long older, long newer) {
        return sum.merge(key, older, newer);
      }
    };
  }
}
