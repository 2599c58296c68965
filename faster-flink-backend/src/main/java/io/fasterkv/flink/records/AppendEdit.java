package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;

/** Appends elements to the head of an inline list, or to its last chunk. */
final class AppendEdit implements RecordEdit {

  /** What became of an append. */
  enum Outcome {
    /** The elements are in the record. */
    DONE,
    /** The record is as long as it may get and was not changed. */
    FULL,
    /** The record is the head of a list in chunks and was not changed. */
    IN_CHUNKS
  }

  private static final int LEAST_ROOM = 16;

  private byte[] elements = new byte[0];
  private int offset;
  private int count;
  private int limit;
  private boolean head;
  private Outcome outcome = Outcome.DONE;
  private int lastChunk;

  /** What to append; with its tag it must be shorter than the limit. */
  AppendEdit of(byte[] elements, int offset, int count) {
    this.elements = elements;
    this.offset = offset;
    this.count = count;
    return this;
  }

  /** Where: a head record or a chunk, which may grow to {@code limit} bytes. */
  AppendEdit to(boolean head, int limit) {
    this.head = head;
    this.limit = limit;
    return this;
  }

  Outcome outcome() {
    return outcome;
  }

  /** Meaningful after {@link Outcome#IN_CHUNKS}. */
  int lastChunk() {
    return lastChunk;
  }

  /** Lets go of the elements. */
  void forget() {
    elements = new byte[0];
  }

  /** With room for a second element or a third: few lists stay at one. */
  @Override
  public int initialBytes() {
    return Math.min(valueBytes() + LEAST_ROOM, Math.max(limit, valueBytes()));
  }

  private int valueBytes() {
    return ListLayout.TAG_BYTES + count;
  }

  @Override
  public void initial(ByteSpan value) {
    value.setLength(valueBytes());
    value.putByte(ListLayout.TAG_AT, ListLayout.INLINE);
    value.copyFrom(ListLayout.TAG_BYTES, elements, offset, count);
    outcome = Outcome.DONE;
  }

  @Override
  public boolean inPlace(ByteSpan value) {
    outcome = judge(value);
    if (outcome != Outcome.DONE) {
      return true;
    }
    if (grownLength(value) > value.capacity()) {
      return false;
    }
    append(value);
    return true;
  }

  private Outcome judge(ByteSpan value) {
    if (head && value.getByte(ListLayout.TAG_AT) == ListLayout.CHUNKED) {
      lastChunk = value.getInt(ListLayout.LAST_CHUNK_AT);
      return Outcome.IN_CHUNKS;
    }
    boolean isClosed = !head && ListLayout.isWithin(value.getByte(ListLayout.TAG_AT));
    return isClosed || grownLength(value) > limit ? Outcome.FULL : Outcome.DONE;
  }

  private int grownLength(ByteSpan value) {
    return value.length() + separators(value) + count;
  }

  private static int separators(ByteSpan value) {
    return value.length() > ListLayout.TAG_BYTES ? 1 : 0;
  }

  private void append(ByteSpan value) {
    int end = value.length();
    int grown = grownLength(value);
    if (separators(value) > 0) {
      value.putByte(end++, ListLayout.SEPARATOR);
    }
    value.copyFrom(end, elements, offset, count);
    value.setLength(grown);
  }

  @Override
  public int copyBytes(ByteSpan oldValue) {
    if (judge(oldValue) != Outcome.DONE) {
      return oldValue.length();
    }
    int grown = grownLength(oldValue);
    return Math.min(grown + Math.max(grown / 2, LEAST_ROOM), Math.max(limit, grown));
  }

  @Override
  public void copy(ByteSpan oldValue, ByteSpan newValue) {
    outcome = judge(oldValue);
    newValue.setTo(oldValue);
    if (outcome == Outcome.DONE) {
      append(newValue);
    }
  }
}
