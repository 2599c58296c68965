package io.fasterkv.cpr;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.MergeableFunctions;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.Status;

/**
 * Sums that show whether they are whole: a value consists of its key, the sum, and words that
 * depend on both. The sum determines the number of words, sometimes more than a page.
 */
public class SumFunctions
    implements MergeableFunctions<Long, SumFunctions.Result, SumFunctions.Found> {
  private static final int SUM = Long.BYTES;
  private static final int HEADER_BYTES = 2 * Long.BYTES;
  private static final int PAGE_WORDS = 480;

  private final int maxWords;

  /** Creates functions whose values have 16 to {@code maxBytes} bytes. */
  public SumFunctions(int maxBytes) {
    maxWords = (maxBytes - HEADER_BYTES) / Long.BYTES;
  }

  /** The result of a read. */
  public static final class Result {
    public long sum;
  }

  /** Receives the result of a read. */
  public interface Found {
    void found(Long value);
  }

  private int length(long sum) {
    long dice = Script.mix(sum);
    int words =
        switch ((int) (dice & 63)) {
          case 0 -> (int) (dice >>> 6 & 0xFFFF) % (maxWords + 1);
          case 1 -> PAGE_WORDS + (int) (dice >>> 6 & 31);
          default -> (int) (dice >>> 6 & 7);
        };
    return HEADER_BYTES + Math.min(words, maxWords) * Long.BYTES;
  }

  /** A value that ignores the earlier one. */
  public ByteSpan value(long key, long sum) {
    ByteSpan value = ByteSpan.of(new byte[length(sum)]);
    write(key, sum, value);
    return value;
  }

  private void write(long key, long sum, ByteSpan value) {
    int length = length(sum);
    value.setLength(length);
    value.putLong(0, key);
    value.putLong(SUM, sum);
    for (int at = HEADER_BYTES; at < length; at += Long.BYTES) {
      value.putLong(at, sum * 31 + key + at);
    }
  }

  /** The sum in the value of a key; throws unless the value is complete. */
  long check(long key, ByteSpan value) {
    if (value.length() < HEADER_BYTES || value.getLong(0) != key) {
      throw new IllegalStateException("not a value of key " + key + ": " + value);
    }
    long sum = value.getLong(SUM);
    if (value.length() != length(sum)) {
      throw new IllegalStateException("torn: key " + key + " has another length: " + value);
    }
    for (int at = HEADER_BYTES; at < value.length(); at += Long.BYTES) {
      if (value.getLong(at) != sum * 31 + key + at) {
        throw new IllegalStateException("torn at " + at + ": key " + key + ", sum " + sum);
      }
    }
    return sum;
  }

  @Override
  public void singleReader(
      ByteSpan key, Long input, ByteSpan value, Result output, RecordView record) {
    output.sum = check(key.getLong(0), value);
  }

  @Override
  public int initialBytes(ByteSpan key, Long stamp) {
    return length(stamp);
  }

  @Override
  public void initialUpdater(
      ByteSpan key, Long stamp, ByteSpan value, SumFunctions.Result output, RecordView record) {
    write(key.getLong(0), stamp, value);
  }

  @Override
  public boolean inPlaceUpdater(
      ByteSpan key, Long stamp, ByteSpan value, SumFunctions.Result output, RecordView record) {
    long number = key.getLong(0);
    long sum = check(number, value) + stamp;
    if (length(sum) > value.capacity()) {
      return false;
    }
    write(number, sum, value);
    return true;
  }

  @Override
  public int copyBytes(ByteSpan key, Long stamp, ByteSpan oldValue) {
    return length(check(key.getLong(0), oldValue) + stamp);
  }

  @Override
  public void copyUpdater(
      ByteSpan key,
      Long stamp,
      ByteSpan oldValue,
      ByteSpan newValue,
      SumFunctions.Result output,
      RecordView record) {
    long number = key.getLong(0);
    write(number, check(number, oldValue) + stamp, newValue);
  }

  @Override
  public int mergedBytes(ByteSpan key, ByteSpan older, ByteSpan newer) {
    return length(check(key.getLong(0), older) + check(key.getLong(0), newer));
  }

  @Override
  public void merge(ByteSpan key, ByteSpan older, ByteSpan newer, ByteSpan result) {
    long number = key.getLong(0);
    write(number, check(number, older) + check(number, newer), result);
  }

  @Override
  public void completionCallback(Status status, Long input, Result output, Found found) {
    if (found != null) {
      found.found(status == Status.FOUND ? output.sum : null);
    }
  }
}
