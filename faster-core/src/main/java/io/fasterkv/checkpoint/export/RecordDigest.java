package io.fasterkv.checkpoint.export;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.memory.Words;
import io.fasterkv.record.Address;
import io.fasterkv.record.KeyBytes;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.spi.KeyFilter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.function.LongFunction;
import java.util.function.ToLongFunction;

/**
 * Digests the records in some pieces of a log, so that a replay can build an index without reading
 * the records: {@value #ENTRY_BYTES} bytes for each record that may be valid, in the order of their
 * addresses.
 *
 * <pre>
 *   0      8      16                                   20              24
 *   | info | hash | words from the first piece's start | key's start   |
 *
 *   info: the record's first word; PRESENT and FORK mark a fork, which has no hash and key
 *   key's start: its first 4 bytes, padded with zeros; all numbers little endian
 * </pre>
 */
public final class RecordDigest {
  static final int ENTRY_BYTES = 24;
  private static final int HASH_AT = 8;
  private static final int WORDS_AT = 16;
  private static final int HEAD_AT = 20;
  private static final int FIRST_BYTES = 1 << 12;

  /** Maximum length of an array, in whole entries. */
  private static final int MOST_BYTES = (Integer.MAX_VALUE - 64) / ENTRY_BYTES * ENTRY_BYTES;

  private static final long MOST_WORDS = 1L << Integer.SIZE;

  private final PieceWalk walk;
  private final ToLongFunction<KeyBytes> hash;
  private final KeyBytes key = new KeyBytes();
  private ByteBuffer entries = buffer(new byte[FIRST_BYTES]);
  private final int mostBytes;
  private long begin = -1;

  /** Receives the records of a digest. */
  public interface Visitor {
    /**
     * @param info the record's first word
     * @param head begin of the key; valid until this returns
     */
    void visit(long address, long info, long hash, ByteSpan head);
  }

  /**
   * Creates an empty digest.
   *
   * @param hash the store's hash of a key
   */
  public RecordDigest(PieceWalk walk, ToLongFunction<KeyBytes> hash) {
    this(walk, hash, MOST_BYTES);
  }

  /** Like {@link #RecordDigest(PieceWalk, ToLongFunction)}, with another limit, for tests. */
  RecordDigest(PieceWalk walk, ToLongFunction<KeyBytes> hash, int mostBytes) {
    this.walk = walk;
    this.hash = hash;
    this.mostBytes = mostBytes;
  }

  /**
   * Adds the records of the next piece.
   *
   * @param bytes the piece's bytes in native memory, aligned for words
   * @param place describes an address for an error message
   * @throws IllegalArgumentException if it is too far from the first piece, or has more records
   *     than there is room for
   */
  public void add(long from, MemorySegment bytes, LongFunction<String> place) {
    if (begin < 0) {
      begin = from;
    }
    long words = (from - begin + bytes.byteSize()) / Long.BYTES;
    if (from < begin || words > MOST_WORDS) {
      throw new IllegalArgumentException(
          "a piece is too far from the first one of its digest: from="
              + from
              + ", words="
              + words
              + ", allowed="
              + begin
              + " and above, "
              + MOST_WORDS
              + "; "
              + place.apply(from));
    }
    walk.run(
        from,
        Math.max(from, Address.FIRST),
        bytes,
        place,
        (address, info, memory, record) -> {
          if (RecordInfo.isFork(info)) {
            put(address, info, 0, 0);
          } else if (ShownRecords.mayCount(info)) {
            walk.checkSound(address, memory, record, place);
            put(memory, record, address, info);
          }
        });
  }

  private void put(MemorySegment memory, long record, long address, long info) {
    int length = walk.layout().keyBytes(memory, record);
    long keyAt = walk.layout().keyOffset(record);
    key.set(memory.asSlice(keyAt, Words.align(length)), length);
    int head = 0;
    for (int at = Math.min(length, KeyFilter.HEAD_BYTES) - 1; at >= 0; at--) {
      head = head << Byte.SIZE | (memory.get(ValueLayout.JAVA_BYTE, keyAt + at) & 0xFF);
    }
    put(address, info, hash.applyAsLong(key), head);
  }

  private void put(long address, long info, long keyHash, int head) {
    if (entries.remaining() < ENTRY_BYTES) {
      grow();
    }
    entries
        .putLong(info)
        .putLong(keyHash)
        .putInt((int) ((address - begin) / Long.BYTES))
        .putInt(head);
  }

  private void grow() {
    int position = entries.position();
    int larger = (int) Math.min(mostBytes, 2L * entries.capacity());
    if (larger - position < ENTRY_BYTES) {
      throw new IllegalArgumentException(
          "the pieces of a digest have too many records: records="
              + position / ENTRY_BYTES
              + ", allowed="
              + mostBytes / ENTRY_BYTES
              + "; make another file with a digest of its own");
    }
    entries = buffer(Arrays.copyOf(entries.array(), larger)).position(position);
  }

  /** Length of the digest. */
  public int length() {
    return entries.position();
  }

  public byte[] bytes() {
    return Arrays.copyOf(entries.array(), entries.position());
  }

  /** Removes all pieces. */
  public void clear() {
    entries.clear();
    begin = -1;
  }

  /** Passes this digest's records to the visitor. */
  public void forEach(Visitor visitor) {
    forEach(entries.duplicate().order(ByteOrder.LITTLE_ENDIAN).flip(), begin, visitor);
  }

  /**
   * Passes a digest's records to the visitor.
   *
   * @param begin begin of its first piece
   * @param until end of its last piece
   * @param place describes the digest for an error message
   */
  public static void forEach(byte[] digest, long begin, long until, String place, Visitor visitor) {
    if (digest.length % ENTRY_BYTES != 0) {
      throw new Corrupt("a digest has a part of an entry: bytes=" + digest.length + ", " + place);
    }
    forEach(
        buffer(digest),
        begin,
        (address, info, keyHash, head) -> {
          if (address < begin || address >= until || !RecordInfo.isPresent(info)) {
            throw new Corrupt(
                "a digest has a record that its pieces have not: address="
                    + address
                    + ", from="
                    + begin
                    + ", until="
                    + until
                    + ", "
                    + place);
          }
          visitor.visit(address, info, keyHash, head);
        });
  }

  private static void forEach(ByteBuffer entries, long begin, Visitor visitor) {
    byte[] head = new byte[KeyFilter.HEAD_BYTES];
    ByteSpan span = ByteSpan.of(head);
    for (int at = entries.position(); at < entries.limit(); at += ENTRY_BYTES) {
      entries.get(at + HEAD_AT, head);
      visitor.visit(
          begin + Integer.toUnsignedLong(entries.getInt(at + WORDS_AT)) * Long.BYTES,
          entries.getLong(at),
          entries.getLong(at + HASH_AT),
          span);
    }
  }

  private static ByteBuffer buffer(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
