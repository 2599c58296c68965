package io.fasterkv.flink.records;

import io.fasterkv.flink.key.CompositeKey;

/**
 * Single values of any length, shaped as {@link ValueLayout} draws them: one record, or a head
 * record and pieces if the value does not fit a record. For one thread at a time.
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
   * @param into takes the value from {@link ValueLayout#TAG_BYTES} on
   * @return false if there is none
   */
  public boolean get(CompositeKey key, Bytes into) {
    if (!records.read(key.head(), into)) {
      return false;
    }
    if (into.array()[ValueLayout.TAG_AT] == ValueLayout.PIECES) {
      long identity = PartLayout.ofHead(into.array(), 0);
      int length = ValueLayout.lengthInPieces(into.array(), 0);
      into.clear();
      into.append(ValueLayout.WHOLE);
      return readPieces(key, identity, length, into);
    }
    return true;
  }

  /** False if a piece is not there any more. */
  private boolean readPieces(CompositeKey key, long identity, int length, Bytes into) {
    into.reserve(Math.addExact(ValueLayout.TAG_BYTES, length));
    // Pieces of a store that was restored may be of another length.
    for (int piece = 1; into.length() < ValueLayout.TAG_BYTES + length; piece++) {
      int skip = ValueLayout.PIECE_HEAD_BYTES;
      if (records.appendPart(key.record(piece), identity, skip, into) == Records.ABSENT) {
        records.checkMayMiss(key, piece);
        return false;
      }
    }
    return true;
  }

  /**
   * Sets a value, blindly.
   *
   * @param bytes holds the value from {@link ValueLayout#TAG_BYTES} on; the tag is written here
   * @param length of the value and its tag
   */
  public void put(CompositeKey key, byte[] bytes, int length) {
    put(key, bytes, 0, length);
  }

  /** As the other one, of bytes from {@code offset} on. */
  void put(CompositeKey key, byte[] bytes, int offset, int length) {
    if (length <= records.limit()) {
      bytes[offset + ValueLayout.TAG_AT] = ValueLayout.WHOLE;
      records.put(key.head(), bytes, offset, length);
    } else {
      putPieces(key, bytes, offset + ValueLayout.TAG_BYTES, length - ValueLayout.TAG_BYTES);
    }
  }

  private void putPieces(CompositeKey key, byte[] bytes, int offset, int length) {
    long identity = records.takeIdentity();
    int pieceBytes = ValueLayout.pieceBytes(records.limit());
    int pieces = ValueLayout.pieces(length, records.limit());
    for (int piece = 1; piece <= pieces; piece++) {
      int start = (piece - 1) * pieceBytes;
      int count = Math.min(pieceBytes, length - start);
      record.clear();
      record.appendLong(identity);
      record.append(bytes, offset, ValueLayout.START_BYTES);
      record.append(bytes, offset + start, count);
      records.put(key.record(piece), record, record.length());
    }
    record.clear();
    record.append(ValueLayout.PIECES);
    record.appendLong(identity);
    record.appendInt(length);
    record.append(bytes, offset, ValueLayout.START_BYTES);
    records.putHead(key.head(), record);
  }

  /** Removes a value, if there is one, blindly. */
  public void remove(CompositeKey key) {
    records.delete(key.head());
  }
}
