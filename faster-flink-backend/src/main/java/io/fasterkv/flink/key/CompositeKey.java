package io.fasterkv.flink.key;

import io.fasterkv.api.ByteSpan;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Builds record keys in one reused buffer, in the shape that {@link KeyLayout} draws: a caller sets
 * the key, selects a state and a namespace, and then names one record after another. If key and
 * namespace are long, the record keys have the shape that {@link LongKeyLayout} draws, but the
 * prefix still has all bytes.
 *
 * <p>Each step keeps what earlier steps have written and rewrites no byte: the store copies the key
 * by words, and a processor takes some twenty cycles to load a word that has just been written in
 * pieces. Not safe for use by two threads.
 */
public final class CompositeKey {
  private static final int FIRST_BYTES = 64;
  private static final int UNSET = 0;

  /** The longest prefix whose record keys have no digest. */
  private static final int MOST_SHORT = KeyLayout.KEY_LENGTH_AT + LongKeyLayout.MOST_SHORT_BYTES;

  private byte[] bytes = new byte[FIRST_BYTES];
  private MemorySegment segment = MemorySegment.ofArray(bytes);
  private final ByteSpan span = new ByteSpan();
  private int keyEnd = UNSET;
  private int prefixEnd = UNSET;

  private boolean isLong;
  private @Nullable DigestKey digest;

  /** End of the prefix that was digested; {@link #UNSET} if it has changed since. */
  private int digestedEnd = UNSET;

  /** Starts a new key. */
  public void setKey(int keyGroup, byte[] key, int offset, int length) {
    int keyAt = KeyLayout.KEY_LENGTH_AT + Varint.size(length);
    reserve(keyAt + length);
    KeyLayout.putShort(bytes, KeyLayout.KEY_GROUP_AT, keyGroup);
    Varint.write(bytes, KeyLayout.KEY_LENGTH_AT, length);
    System.arraycopy(key, offset, bytes, keyAt, length);
    keyEnd = keyAt + length;
    prefixEnd = UNSET;
    digestedEnd = UNSET;
  }

  /**
   * Selects a state and a namespace of the key.
   *
   * @throws IllegalStateException if no key has been set
   */
  public CompositeKey select(int state, byte[] namespace, int offset, int length) {
    if (keyEnd == UNSET) {
      throw new IllegalStateException(
          "no current key: keyed state is used outside of a keyed context; set a key first");
    }
    int end = keyEnd + length;
    reserve(end);
    if (KeyLayout.state(bytes, 0) != state) {
      KeyLayout.putShort(bytes, KeyLayout.STATE_AT, state);
    }
    if (!Arrays.equals(bytes, keyEnd, end, namespace, offset, offset + length)) {
      System.arraycopy(namespace, offset, bytes, keyEnd, length);
      digestedEnd = UNSET;
    }
    setPrefixEnd(end);
    return this;
  }

  private void setPrefixEnd(int end) {
    prefixEnd = end;
    if (end > MOST_SHORT) {
      isLong = true;
    } else if (isLong) {
      // A sub number may have overwritten bytes that were digested.
      isLong = false;
      digestedEnd = UNSET;
    }
  }

  /** Copies a whole prefix, as {@link #copyOfPrefix} returned it. */
  public CompositeKey setPrefix(byte[] source, int offset, int length) {
    reserve(length);
    System.arraycopy(source, offset, bytes, 0, length);
    keyEnd = KeyLayout.keyAt(bytes, 0) + KeyLayout.keyLength(bytes, 0);
    digestedEnd = UNSET;
    setPrefixEnd(length);
    return this;
  }

  /** Copies the selected prefix of another composite key. */
  public void setPrefix(CompositeKey source) {
    reserve(source.prefixEnd);
    System.arraycopy(source.bytes, 0, bytes, 0, source.prefixEnd);
    keyEnd = source.keyEnd;
    digestedEnd = UNSET;
    setPrefixEnd(source.prefixEnd);
  }

  /**
   * Selects the records of a long key's key record. A key must be set before anything else can be
   * selected.
   *
   * @param record any record key of the key record or of its value
   */
  public CompositeKey setKeyRecord(ByteSpan record) {
    reserve(LongKeyLayout.PREFIX_BYTES);
    record.copyTo(0, bytes, 0, LongKeyLayout.PREFIX_BYTES);
    bytes[LongKeyLayout.PART_AT] = LongKeyLayout.KEY_PART;
    keyEnd = UNSET;
    digestedEnd = UNSET;
    setPrefixEnd(LongKeyLayout.PREFIX_BYTES);
    return this;
  }

  /** The record key with this sub number; valid until the next call of any method. */
  public ByteSpan record(int sub) {
    if (isLong) {
      return longRecord(sub);
    }
    int length = prefixEnd + KeyLayout.SUB_BYTES;
    if (KeyLayout.sub(bytes, 0, length) != sub) {
      KeyLayout.putInt(bytes, prefixEnd, sub);
    }
    return span.wrap(segment, 0, length, length);
  }

  private ByteSpan longRecord(int sub) {
    DigestKey made = digest;
    if (made == null) {
      made = new DigestKey();
      digest = made;
    }
    if (digestedEnd != prefixEnd) {
      made.digest(bytes, prefixEnd);
      digestedEnd = prefixEnd;
    }
    return made.record(bytes, sub, span);
  }

  /** The key of the head record. */
  public ByteSpan head() {
    return record(0);
  }

  /** The selected state. */
  public int state() {
    return KeyLayout.state(bytes, 0);
  }

  /** Whether the record keys have a digest, so that a key record must store the key. */
  public boolean isLong() {
    return isLong;
  }

  /** The length of the selected prefix. */
  public int prefixLength() {
    return prefixEnd;
  }

  /** A fresh array with the selected prefix. */
  public byte[] copyOfPrefix() {
    return Arrays.copyOf(bytes, prefixEnd);
  }

  /** Whether this prefix is selected. */
  public boolean hasPrefix(byte[] prefix) {
    return Arrays.equals(bytes, 0, prefixEnd, prefix, 0, prefix.length);
  }

  /** Whether another composite key has the same prefix selected. */
  public boolean hasPrefixOf(CompositeKey other) {
    return Arrays.equals(bytes, 0, prefixEnd, other.bytes, 0, other.prefixEnd);
  }

  private void reserve(int length) {
    int needed = length + KeyLayout.SUB_BYTES;
    if (needed > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(needed, bytes.length * 2));
      segment = MemorySegment.ofArray(bytes);
    }
  }
}
