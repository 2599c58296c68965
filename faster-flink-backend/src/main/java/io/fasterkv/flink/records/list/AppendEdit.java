package io.fasterkv.flink.records.list;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.records.base.PartLayout;
import io.fasterkv.flink.records.base.RecordEdit;

/** Appends elements to the head of an inline list, or to its last chunk. */
final class AppendEdit implements RecordEdit {

  /** The result of an append. */
  enum Outcome {
    /** The elements were appended. */
    DONE,
    /** The record has reached its maximum length and was not changed. */
    FULL,
    /** The record is the head of a list in chunks and was not changed. */
    IN_CHUNKS
  }

  private static final int LEAST_ROOM = 16;

  private byte[] elements = new byte[0];
  private int offset;
  private int count;
  private int limit;
  private boolean isHead;
  private long incarnation;
  private Outcome outcome = Outcome.DONE;
  private boolean isNew;
  private int lastChunk;

  /** Sets the elements to append. With their tag, they must be shorter than the limit. */
  AppendEdit of(byte[] elements, int offset, int count) {
    this.elements = elements;
    this.offset = offset;
    this.count = count;
    return this;
  }

  /** Selects a head record as the target, which may grow to {@code most} bytes. */
  AppendEdit toHead(int most) {
    isHead = true;
    limit = most;
    return this;
  }

  /** Selects a chunk of the list with this incarnation, which may grow to {@code most} bytes. */
  AppendEdit toChunk(long listIncarnation, int most) {
    isHead = false;
    incarnation = listIncarnation;
    limit = most;
    return this;
  }

  Outcome outcome() {
    return outcome;
  }

  /** Whether the record was absent or had another incarnation. */
  boolean isNew() {
    return isNew;
  }

  /** Number of the last chunk; valid after {@link Outcome#IN_CHUNKS}. */
  int lastChunk() {
    return lastChunk;
  }

  /** The incarnation of the list; valid after {@link Outcome#IN_CHUNKS}. */
  long incarnation() {
    return incarnation;
  }

  /** Drops the reference to the elements. */
  void forget() {
    elements = new byte[0];
  }

  /** Leaves room for a second or third element: few lists keep one. */
  @Override
  public int initialBytes() {
    return Math.min(valueBytes() + LEAST_ROOM, Math.max(limit, valueBytes()));
  }

  private int tagAt() {
    return isHead ? ListLayout.TAG_AT : ListLayout.CHUNK_TAG_AT;
  }

  private int elementsAt() {
    return tagAt() + ListLayout.TAG_BYTES;
  }

  private int valueBytes() {
    return elementsAt() + count;
  }

  @Override
  public void initial(ByteSpan value) {
    value.setLength(valueBytes());
    if (!isHead) {
      PartLayout.putIntoPart(value, incarnation);
    }
    value.putByte(tagAt(), isHead ? ListLayout.INLINE : ListLayout.ENDS);
    value.copyFrom(elementsAt(), elements, offset, count);
    outcome = Outcome.DONE;
    isNew = true;
  }

  /** Whether the chunk belongs to another list. */
  private boolean isOthers(ByteSpan value) {
    return !isHead && PartLayout.ofPart(value) != incarnation;
  }

  @Override
  public boolean inPlace(ByteSpan value) {
    if (isOthers(value)) {
      boolean fits = valueBytes() <= value.capacity();
      if (fits) {
        initial(value);
      }
      return fits;
    }
    isNew = false;
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
    if (isHead && value.getByte(ListLayout.TAG_AT) == ListLayout.CHUNKED) {
      lastChunk = value.getInt(ListLayout.LAST_CHUNK_AT);
      incarnation = PartLayout.ofHead(value);
      return Outcome.IN_CHUNKS;
    }
    boolean isClosed = !isHead && ListLayout.isWithin(value.getByte(ListLayout.CHUNK_TAG_AT));
    return isClosed || grownLength(value) > limit ? Outcome.FULL : Outcome.DONE;
  }

  private int grownLength(ByteSpan value) {
    return value.length() + separators(value) + count;
  }

  private int separators(ByteSpan value) {
    return value.length() > elementsAt() ? 1 : 0;
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
    if (isOthers(oldValue)) {
      return initialBytes();
    }
    if (judge(oldValue) != Outcome.DONE) {
      return oldValue.length();
    }
    int grown = grownLength(oldValue);
    return Math.min(grown + room(grown), Math.max(limit, grown));
  }

  /**
   * Room for the record to double in a few appends; little if not even one more of this size fits.
   */
  private int room(int grown) {
    int half = grown / 2;
    return half > count ? Math.max(half, LEAST_ROOM) : LEAST_ROOM;
  }

  @Override
  public void copy(ByteSpan oldValue, ByteSpan newValue) {
    if (isOthers(oldValue)) {
      initial(newValue);
      return;
    }
    isNew = false;
    outcome = judge(oldValue);
    newValue.setTo(oldValue);
    if (outcome == Outcome.DONE) {
      append(newValue);
    }
  }
}
