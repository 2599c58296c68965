package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreFunctions;

/**
 * Values that any thread may write in any order and that still show whether they are whole: every
 * word depends on the value's key, on a stamp that no other write has, on the number of earlier
 * updates, and on the word's position. The input of an update is its stamp.
 */
final class StampedFunctions
    implements StoreFunctions<Long, StampedFunctions.Result, StampedFunctions.Reader> {
  private static final int KEY = 0;
  private static final int STAMP = 8;
  private static final int COUNT = 16;
  private static final int HEADER_BYTES = 24;

  private final int maxBytes;

  /** Values have up to {@code maxBytes}. */
  StampedFunctions(int maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** The result of a read. */
  static final class Result {
    long stamp;
    long count;
  }

  /** Called when a pending operation has ended. */
  interface Reader {
    void ended(Status status, Result result);
  }

  /** Depending on the stamp, small, about a page of 4 KiB, or any size. */
  int length(long stamp) {
    int choice = (int) Long.remainderUnsigned(mix(stamp), maxBytes);
    int words =
        switch ((int) (mix(stamp + 1) & 7)) {
          case 0 -> choice % 8;
          case 1 -> 490 + choice % 24;
          default -> choice / Long.BYTES;
        };
    return HEADER_BYTES + Math.min(words * Long.BYTES, maxBytes - HEADER_BYTES);
  }

  /** A whole value that is the first of its key, or that ignores earlier values. */
  ByteSpan value(long key, long stamp) {
    ByteSpan value = ByteSpan.of(new byte[length(stamp)]);
    write(key, stamp, 1, value);
    return value;
  }

  /** Writes value number {@code count}. */
  void write(long key, long stamp, long count, ByteSpan value) {
    int length = length(stamp);
    value.setLength(length);
    value.putLong(KEY, key);
    value.putLong(STAMP, stamp);
    value.putLong(COUNT, count);
    for (int at = HEADER_BYTES; at < length; at += Long.BYTES) {
      value.putLong(at, word(key, stamp, count, at));
    }
  }

  /** Throws unless all words belong to the same value of the key. */
  void check(long key, ByteSpan value, Result found) {
    int length = value.length();
    if (length < HEADER_BYTES || value.getLong(KEY) != key) {
      throw new IllegalStateException("not a value of key " + key + ": bytes=" + length);
    }
    found.stamp = value.getLong(STAMP);
    found.count = value.getLong(COUNT);
    if (length != length(found.stamp)) {
      throw new IllegalStateException("torn: key " + key + " has another length: " + length);
    }
    for (int at = HEADER_BYTES; at < length; at += Long.BYTES) {
      if (value.getLong(at) != word(key, found.stamp, found.count, at)) {
        throw new IllegalStateException(
            "torn at " + at + " of " + length + ": key " + key + ", stamp " + found.stamp);
      }
    }
  }

  private static long word(long key, long stamp, long count, int at) {
    return mix(stamp * 31 + count) + mix(key) + at;
  }

  private static long mix(long x) {
    long h = (x ^ x >>> 32) * 0x9E3779B97F4A7C15L;
    return h ^ h >>> 29;
  }

  private long successor(ByteSpan key, ByteSpan oldValue) {
    Result old = new Result();
    check(key.getLong(0), oldValue, old);
    return old.count + 1;
  }

  @Override
  public void singleReader(
      ByteSpan key, Long input, ByteSpan value, Result output, RecordView record) {
    check(key.getLong(0), value, output);
  }

  @Override
  public int initialBytes(ByteSpan key, Long stamp) {
    return length(stamp);
  }

  @Override
  public void initialUpdater(
      ByteSpan key, Long stamp, ByteSpan value, StampedFunctions.Result output, RecordView record) {
    write(key.getLong(0), stamp, 1, value);
  }

  @Override
  public boolean inPlaceUpdater(
      ByteSpan key, Long stamp, ByteSpan value, StampedFunctions.Result output, RecordView record) {
    if (length(stamp) > value.capacity()) {
      return false;
    }
    write(key.getLong(0), stamp, successor(key, value), value);
    return true;
  }

  @Override
  public int copyBytes(ByteSpan key, Long stamp, ByteSpan oldValue) {
    return length(stamp);
  }

  @Override
  public void copyUpdater(
      ByteSpan key,
      Long stamp,
      ByteSpan oldValue,
      ByteSpan newValue,
      StampedFunctions.Result output,
      RecordView record) {
    write(key.getLong(0), stamp, successor(key, oldValue), newValue);
  }

  @Override
  public void completionCallback(Status status, Long input, Result output, Reader context) {
    if (context != null) {
      context.ended(status, output);
    }
  }
}
