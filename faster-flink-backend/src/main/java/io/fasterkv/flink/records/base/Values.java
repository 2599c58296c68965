package io.fasterkv.flink.records.base;

import io.fasterkv.flink.key.CompositeKey;

/**
 * Stores single values of any length, in the shape that {@link ValueLayout} draws: one record, or a
 * head record and pieces if the value does not fit a record. For one thread at a time.
 */
public final class Values {
  private final Records records;
  private final Bytes record = new Bytes();

  public Values(Records records) {
    this.records = records;
  }

  /**
   * Reads a value.
   *
   * @param into receives the value from {@link ValueLayout#TAG_BYTES} on
   * @return false if there is none
   */
  public boolean get(CompositeKey key, Bytes into) {
    if (!records.read(key.head(), into)) {
      return false;
    }
    if (into.array()[ValueLayout.TAG_AT] == ValueLayout.PIECES) {
      long incarnation = PartLayout.ofHead(into.array(), 0);
      int length = ValueLayout.lengthInPieces(into.array(), 0);
      into.clear();
      into.append(ValueLayout.WHOLE);
      return readPieces(key, incarnation, length, into);
    }
    return true;
  }

  /** Reads the pieces; returns false if one is missing. */
  private boolean readPieces(CompositeKey key, long incarnation, int length, Bytes into) {
    into.reserve(Math.addExact(ValueLayout.TAG_BYTES, length));
    // A restored store may have pieces of another length.
    for (int piece = 1; into.length() < ValueLayout.TAG_BYTES + length; piece++) {
      int skip = ValueLayout.PIECE_HEAD_BYTES;
      if (records.appendPart(key.record(piece), incarnation, skip, into) == Records.ABSENT) {
        records.checkMayMiss(key, piece);
        return false;
      }
    }
    return true;
  }

  /**
   * Sets a value without reading the old one.
   *
   * @param bytes holds the value from {@link ValueLayout#TAG_BYTES} on; this method writes the tag
   * @param length length of the value and its tag
   */
  public void put(CompositeKey key, byte[] bytes, int length) {
    put(key, bytes, 0, length);
  }

  /** Sets a value; its tag is at {@code offset}. */
  public void put(CompositeKey key, byte[] bytes, int offset, int length) {
    if (length <= records.limit()) {
      bytes[offset + ValueLayout.TAG_AT] = ValueLayout.WHOLE;
      records.putHead(key, bytes, offset, length);
    } else {
      putPieces(key, bytes, offset + ValueLayout.TAG_BYTES, length - ValueLayout.TAG_BYTES);
    }
  }

  /**
   * Stores a value in pieces whatever its length, which must be at least {@link
   * ValueLayout#START_BYTES}.
   */
  void putPieces(CompositeKey key, byte[] bytes, int offset, int length) {
    long incarnation = records.takeIncarnation();
    int pieceBytes = ValueLayout.pieceBytes(records.limit());
    int pieces = ValueLayout.pieces(length, records.limit());
    for (int piece = 1; piece <= pieces; piece++) {
      int start = (piece - 1) * pieceBytes;
      int count = Math.min(pieceBytes, length - start);
      record.clear();
      record.appendLong(incarnation);
      record.append(bytes, offset, ValueLayout.START_BYTES);
      record.append(bytes, offset + start, count);
      records.put(key.record(piece), record, record.length());
    }
    record.clear();
    record.append(ValueLayout.PIECES);
    record.appendLong(incarnation);
    record.appendInt(length);
    record.append(bytes, offset, ValueLayout.START_BYTES);
    records.putHead(key, record);
  }

  /** Removes a value, if there is one, without reading it. */
  public void remove(CompositeKey key) {
    records.delete(key.head());
  }
}
