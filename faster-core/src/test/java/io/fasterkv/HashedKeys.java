package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
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

  /** A hash that chooses one of {@code buckets} main buckets, with a tag of zero. */
  static long inBucket(long bucket, long buckets) {
    long width = Long.divideUnsigned(-1L, buckets);
    long hash = (bucket * width + width / 2) & ~0xFFFFL;
    assertThat(Math.unsignedMultiplyHigh(hash, buckets)).isEqualTo(bucket);
    return hash;
  }
}
