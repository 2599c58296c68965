package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreFunctions;

/**
 * Values that describe themselves: key, version, and a length and a pattern of bytes that depend on
 * both. Reading a value throws if it is torn, has another key, or does not succeed the value
 * before. The input of an update is the version to write.
 */
final class VersionedFunctions
    implements StoreFunctions<Long, VersionedFunctions.Result, VersionedFunctions.Reader> {
  private static final int HEADER_BYTES = 16;

  private final int maxPadding;

  VersionedFunctions(int maxPadding) {
    this.maxPadding = maxPadding;
  }

  /** The result of a read: the version, or 0. */
  static final class Result {
    long version;
  }

  /** Called when a pending operation has ended. */
  interface Reader {
    void ended(Status status, Result result);
  }

  /** The bytes of a key's version. */
  int length(long key, long version) {
    return HEADER_BYTES + (int) Math.floorMod(mix(key ^ version << 20), (long) maxPadding + 1);
  }

  /** A whole value, for an upsert. */
  ByteSpan value(long key, long version) {
    ByteSpan value = ByteSpan.of(new byte[length(key, version)]);
    write(key, version, value);
    return value;
  }

  private void write(long key, long version, ByteSpan value) {
    int length = length(key, version);
    value.setLength(length);
    value.putLong(0, key);
    for (int at = HEADER_BYTES; at < length; at++) {
      value.putByte(at, pattern(version, at));
    }
    value.putLong(Long.BYTES, version);
  }

  /** The version of a value, after checking every byte. */
  long check(long key, ByteSpan value) {
    if (value.length() < HEADER_BYTES || value.getLong(0) != key) {
      throw new IllegalStateException("not a value of key " + key + ": " + value);
    }
    long version = value.getLong(Long.BYTES);
    if (value.length() != length(key, version)) {
      throw new IllegalStateException(
          "length of version " + version + " of key " + key + ": " + value);
    }
    for (int at = HEADER_BYTES; at < value.length(); at++) {
      if (value.getByte(at) != pattern(version, at)) {
        throw new IllegalStateException(
            "torn at " + at + ": version " + version + " of key " + key);
      }
    }
    return version;
  }

  private static byte pattern(long version, int at) {
    return (byte) (version * 31 + at);
  }

  private static long mix(long x) {
    long h = x * 0x9E3779B97F4A7C15L;
    return h ^ h >>> 29;
  }

  /** The number at the start of a key. */
  static long number(ByteSpan key) {
    return key.getLong(0);
  }

  private void checkPredecessor(ByteSpan key, long version, ByteSpan oldValue) {
    long old = check(number(key), oldValue);
    if (old != version - 1) {
      throw new IllegalStateException(
          "an update of key " + number(key) + " to version " + version + " sees version " + old);
    }
  }

  @Override
  public void singleReader(
      ByteSpan key, Long input, ByteSpan value, Result output, RecordView record) {
    output.version = check(number(key), value);
  }

  @Override
  public int initialBytes(ByteSpan key, Long version) {
    return length(number(key), version);
  }

  @Override
  public void initialUpdater(
      ByteSpan key,
      Long version,
      ByteSpan value,
      VersionedFunctions.Result output,
      RecordView record) {
    write(number(key), version, value);
  }

  @Override
  public boolean inPlaceUpdater(
      ByteSpan key,
      Long version,
      ByteSpan value,
      VersionedFunctions.Result output,
      RecordView record) {
    checkPredecessor(key, version, value);
    if (length(number(key), version) > value.capacity()) {
      return false;
    }
    write(number(key), version, value);
    return true;
  }

  @Override
  public int copyBytes(ByteSpan key, Long version, ByteSpan oldValue) {
    return length(number(key), version);
  }

  @Override
  public void copyUpdater(
      ByteSpan key,
      Long version,
      ByteSpan oldValue,
      ByteSpan newValue,
      VersionedFunctions.Result output,
      RecordView record) {
    checkPredecessor(key, version, oldValue);
    write(number(key), version, newValue);
  }

  @Override
  public void completionCallback(Status status, Long input, Result output, Reader context) {
    context.ended(status, output);
  }
}
