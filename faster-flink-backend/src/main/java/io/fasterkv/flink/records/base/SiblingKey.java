package io.fasterkv.flink.records.base;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.KeyLayout;
import java.lang.foreign.MemorySegment;

/** Builds the keys of other records of the same value. For one thread at a time. */
public final class SiblingKey {
  private final ByteSpan sibling = new ByteSpan();
  private byte[] bytes = new byte[0];

  /** The key with another sub number; valid until the next call. */
  public ByteSpan of(ByteSpan key, int sub) {
    int length = key.length();
    if (bytes.length < length) {
      bytes = new byte[2 * length];
    }
    key.copyTo(0, bytes, 0, length);
    KeyLayout.putSub(bytes, length, sub);
    return sibling.wrap(MemorySegment.ofArray(bytes), 0, length, length);
  }
}
