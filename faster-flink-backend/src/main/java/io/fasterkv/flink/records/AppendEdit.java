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
  private boolean isHead;
  private long identity;
  private Outcome outcome = Outcome.DONE;
  private boolean isAnew;
  private int lastChunk;

  /** What to append; with its tag it must be shorter than the limit. */
  AppendEdit of(byte[] elements, int offset, int count) {
    this.elements = elements;
    this.offset = offset;
    this.count = count;
    return this;
  }

  /** Where: a head record, which may grow to {@code most} bytes. */
  AppendEdit toHead(int most) {
    isHead = true;
    limit = most;
    return this;
  }

  /** Where: a chunk of the list with this identity, which may grow to {@code most} bytes. */
  AppendEdit toChunk(long listIdentity, int most) {
    isHead = false;
    identity = listIdentity;
    limit = most;
    return this;
  }

  Outcome outcome() {
    return outcome;
  }

  /** Whether there was no such record, or one of another identity. */
  boolean isAnew() {
    return isAnew;
  }

  /** Meaningful after {@link Outcome#IN_CHUNKS}. */
  int lastChunk() {
    return lastChunk;
  }

  /** The identity of the list; meaningful after {@link Outcome#IN_CHUNKS}. */
  long identity() {
    return identity;
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
      PartLayout.putIntoPart(value, identity);
    }
    value.putByte(tagAt(), isHead ? ListLayout.INLINE : ListLayout.ENDS);
    value.copyFrom(elementsAt(), elements, offset, count);
    outcome = Outcome.DONE;
    isAnew = true;
  }

  /** Whether a chunk is left over from another list. */
  private boolean isOthers(ByteSpan value) {
    return !isHead && PartLayout.ofPart(value) != identity;
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
    isAnew = false;
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
      identity = PartLayout.ofHead(value);
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

  /** For as much again in a few appends; none where not even one of this size would fit. */
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
    isAnew = false;
    outcome = judge(oldValue);
    newValue.setTo(oldValue);
    if (outcome == Outcome.DONE) {
      append(newValue);
    }
  }
}
