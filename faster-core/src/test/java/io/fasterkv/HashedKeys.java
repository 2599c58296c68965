package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.record.HashTag;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Keys that contain their own hash, so that a test chooses bucket and tag. */
final class HashedKeys {
  private HashedKeys() {}

  /** The {@code KeyHash} for these keys. */
  static long hash(MemorySegment memory, long offset, int length) {
    return memory.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
  }

  /** A key of 16 bytes; {@code id} distinguishes keys with the same hash. */
  static ByteSpan key(long hash, long id) {
    ByteBuffer bytes = ByteBuffer.allocate(2 * Long.BYTES).order(ByteOrder.nativeOrder());
    return ByteSpan.of(bytes.putLong(hash).putLong(id).array());
  }

  /** A key of 16 bytes; keys with different numbers hardly ever have the same bucket and tag. */
  static ByteSpan numbered(long number, long id) {
    return key(number * 0x9E3779B97F4A7C15L, id);
  }

  /** A hash that chooses one of {@code buckets} main buckets, always with the same tag. */
  static long inBucket(long bucket, long buckets) {
    return inBucket(bucket, buckets, 0);
  }

  /** A hash that chooses one of {@code buckets} main buckets, from which tags count, and a tag. */
  static long inBucket(long bucket, long buckets, long tag) {
    long width = Long.divideUnsigned(-1L, buckets);
    long hash = bucket * width + buckets + (width >>> HashTag.BITS) * tag + (width >>> 15);
    assertThat(Math.unsignedMultiplyHigh(hash, buckets)).isEqualTo(bucket);
    assertThat(HashTag.of(hash, buckets)).isEqualTo(tag);
    return hash;
  }
}
