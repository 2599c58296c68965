package io.fasterkv.flink.key;

import io.fasterkv.api.ByteSpan;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * A record key under construction, in one reused buffer shaped as {@link KeyLayout} draws it: first
 * the key is set, then a state and a namespace are selected, then record after record is named.
 * Each step keeps what the steps before have written, and writes nothing that is there already: the
 * store copies the key by words, and a word that has just been written in pieces takes a processor
 * some twenty cycles to load. Not safe for use by two threads.
 */
public final class CompositeKey {
  private static final int FIRST_BYTES = 64;
  private static final int UNSET = 0;

  private byte[] bytes = new byte[FIRST_BYTES];
  private MemorySegment segment = MemorySegment.ofArray(bytes);
  private final ByteSpan span = new ByteSpan();
  private int keyEnd = UNSET;
  private int prefixEnd = UNSET;

  /** Starts a new key. */
  public void setKey(int keyGroup, byte[] key, int offset, int length) {
    int keyAt = KeyLayout.KEY_LENGTH_AT + Varint.size(length);
    reserve(keyAt + length);
    KeyLayout.putShort(bytes, KeyLayout.KEY_GROUP_AT, keyGroup);
    Varint.write(bytes, KeyLayout.KEY_LENGTH_AT, length);
    System.arraycopy(key, offset, bytes, keyAt, length);
    keyEnd = keyAt + length;
    prefixEnd = UNSET;
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
    }
    prefixEnd = end;
    return this;
  }

  /** Takes over a whole prefix, as {@link #copyOfPrefix} gave it. */
  public CompositeKey setPrefix(byte[] source, int offset, int length) {
    reserve(length);
    System.arraycopy(source, offset, bytes, 0, length);
    keyEnd = KeyLayout.keyAt(bytes, 0) + KeyLayout.keyLength(bytes, 0);
    prefixEnd = length;
    return this;
  }

  /** Takes over the prefix that is selected in another one. */
  public void setPrefix(CompositeKey source) {
    reserve(source.prefixEnd);
    System.arraycopy(source.bytes, 0, bytes, 0, source.prefixEnd);
    keyEnd = source.keyEnd;
    prefixEnd = source.prefixEnd;
  }

  /** The record key with this sub number; valid until the next call of any method. */
  public ByteSpan record(int sub) {
    int length = prefixEnd + KeyLayout.SUB_BYTES;
    if (KeyLayout.sub(bytes, 0, length) != sub) {
      KeyLayout.putInt(bytes, prefixEnd, sub);
    }
    return span.wrap(segment, 0, length, length);
  }

  /** The key of the head record. */
  public ByteSpan head() {
    return record(0);
  }

  /** The selected state. */
  public int state() {
    return KeyLayout.state(bytes, 0);
  }

  /** A fresh array with the selected prefix. */
  public byte[] copyOfPrefix() {
    return Arrays.copyOf(bytes, prefixEnd);
  }

  /** Whether the selected prefix is this one. */
  public boolean hasPrefix(byte[] prefix) {
    return Arrays.equals(bytes, 0, prefixEnd, prefix, 0, prefix.length);
  }

  private void reserve(int length) {
    int needed = length + KeyLayout.SUB_BYTES;
    if (needed > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(needed, bytes.length * 2));
      segment = MemorySegment.ofArray(bytes);
    }
  }
}
