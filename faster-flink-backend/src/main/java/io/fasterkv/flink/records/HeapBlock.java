package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;

/** A map's block on the heap, where it can be edited with room to grow. */
final class HeapBlock implements RecordReader {
  private final Bytes bytes = new Bytes();
  private final ByteSpan span = new ByteSpan();

  @Override
  public void read(ByteSpan value) {
    bytes.read(value);
  }

  Bytes bytes() {
    return bytes;
  }

  /** The block, open for edits that add up to {@code room} bytes; {@link #close} ends them. */
  ByteSpan open(int room) {
    bytes.reserve(bytes.length() + room);
    return span.wrap(bytes.segment(), 0, bytes.length(), bytes.array().length);
  }

  /** Takes over the length that edits have left. */
  void close() {
    bytes.setLength(span.length());
  }

  ByteSpan span() {
    return span;
  }
}
