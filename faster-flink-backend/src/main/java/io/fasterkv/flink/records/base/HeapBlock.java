package io.fasterkv.flink.records.base;

import io.fasterkv.api.ByteSpan;

/** A copy of a map's block on the heap, where it can be edited and can grow. */
public final class HeapBlock implements RecordReader {
  private final Bytes bytes;
  private final ByteSpan span = new ByteSpan();

  public HeapBlock() {
    this(new Bytes());
  }

  private HeapBlock(Bytes bytes) {
    this.bytes = bytes;
  }

  /** A copy that has no room to grow. */
  public HeapBlock copy() {
    Bytes copy = new Bytes(bytes.length());
    copy.append(bytes.array(), 0, bytes.length());
    return new HeapBlock(copy);
  }

  @Override
  public void read(ByteSpan value) {
    bytes.read(value);
  }

  public Bytes bytes() {
    return bytes;
  }

  /** Opens the block for edits that add up to {@code room} bytes; {@link #close} ends them. */
  public ByteSpan open(int room) {
    bytes.reserve(bytes.length() + room);
    return span.wrap(bytes.segment(), 0, bytes.length(), bytes.array().length);
  }

  /** Takes over the length that the edits left. */
  public void close() {
    bytes.setLength(span.length());
  }

  public ByteSpan span() {
    return span;
  }
}
