package io.fasterkv.compaction;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.memory.Words;
import io.fasterkv.record.Address;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * Collects the keys of a piece of the log, and what newer records say about them, in a hash table
 * in one buffer of scratch memory, until that is full. It stores whole keys, so it never confuses
 * two, and computes hashes of its own, so it does not depend on the quality of the store's hash.
 *
 * <p>For each key it has the newest record that is not a delta; all older records of the key,
 * including deltas, are dead. A delta says nothing about the records below it, so if there is a
 * newer delta, the chain decides.
 *
 * <pre>
 *   slots: 4 bytes each, the number of an entry's first word, or 0
 *   entry: | dead, deltas, newest address or 0 | part of the hash, key bytes | key |
 * </pre>
 */
final class KeyTable implements AutoCloseable {
  /** What {@link #state} knows about a key and a record. */
  enum State {
    /** The key is not in the table, or the record is a delta or has deltas above it. */
    UNKNOWN,
    /** The record is not a delta, and no record of the key above it has been seen. */
    NEWEST,
    /** The key has a newer record that is not a delta, or a tombstone. */
    DEAD
  }

  /** The key's newest record that is not a delta is not a possibly live record of the piece. */
  private static final long DEAD = 1L << 63;

  /** There is a delta above the newest record that is not one. */
  private static final long DELTAS = 1L << 62;

  private static final long ABSENT = -1;
  private static final long HASH_PART = -1L << Integer.SIZE;
  private static final long HEADER = 16;
  private static final long MIN_BYTES = 1 << 10;
  private static final long SMALL_BYTES = 64 << 10;
  private static final long MAX_BYTES = 1 << 30;
  private static final long SEED = 0x9E3779B97F4A7C15L;
  private static final long MIX = 0xE7037ED1A0B428DBL;

  private final BufferPool buffers;
  private final MemorySegment memory;
  private final long slotMask;
  private long used;
  private int keys;
  private int open;

  private KeyTable(BufferPool buffers, MemorySegment memory) {
    this.buffers = buffers;
    this.memory = memory;
    // Slots take a quarter of the memory, so that half of them stay free.
    long slots = memory.byteSize() / 4 / Integer.BYTES;
    slotMask = slots - 1;
    clear();
  }

  /**
   * Takes a table in a quarter of the free scratch memory, or in half of it if that is little;
   * returns null if less than {@code leaveBytes} would remain for others.
   */
  static @Nullable KeyTable tryTake(BufferPool buffers, long leaveBytes) {
    long free = buffers.freeBytes();
    long wanted = Math.clamp(free / 4, Math.min(free / 2, SMALL_BYTES), MAX_BYTES);
    // Rounded up: what is lent already makes the free part slightly less than a power of two.
    long bytes = 2 * Long.highestOneBit(wanted - 1);
    for (; bytes >= MIN_BYTES; bytes /= 2) {
      if (free - bytes >= leaveBytes) {
        MemorySegment memory = buffers.tryTake((int) bytes);
        if (memory != null) {
          return new KeyTable(buffers, memory);
        }
      }
    }
    return null;
  }

  /** Removes all keys. */
  void clear() {
    memory.asSlice(0, slotBytes()).fill((byte) 0);
    used = slotBytes();
    keys = 0;
    open = 0;
  }

  /** Number of keys. */
  int keys() {
    return keys;
  }

  /** Number of keys with a possibly live record. */
  int open() {
    return open;
  }

  /** Number of keys of a given length for which there is room. */
  long capacity(long keyBytes) {
    return Math.min(
        slotMask / 2, (memory.byteSize() - slotBytes()) / (HEADER + Words.align(keyBytes)));
  }

  /**
   * Adds a possibly live record of the piece that is not a delta and is newer than all before;
   * returns false if there is no room.
   */
  boolean put(ByteSpan key, long address) {
    long slot = slot(key);
    long entry = entry(slot);
    return entry == ABSENT ? add(slot, key, address) : reopen(entry, address);
  }

  /** Like {@link #put}, for a delta. */
  boolean putDelta(ByteSpan key) {
    long slot = slot(key);
    long entry = entry(slot);
    return entry == ABSENT
        ? add(slot, key, DELTAS)
        : reopen(entry, Words.loadPlain(memory, entry) & Address.MASK | DELTAS);
  }

  /** Notes a tombstone, or a newer record that is not a delta. */
  void kill(ByteSpan key, long address) {
    long entry = entry(slot(key));
    if (entry != ABSENT) {
      open -= isDead(entry) ? 0 : 1;
      Words.storePlain(memory, entry, DEAD | address);
    }
  }

  /** Notes a newer delta above the piece. */
  void cover(ByteSpan key) {
    long entry = entry(slot(key));
    if (entry != ABSENT && !isDead(entry)) {
      Words.storePlain(memory, entry, Words.loadPlain(memory, entry) | DELTAS);
    }
  }

  State state(ByteSpan key, long address) {
    long entry = entry(slot(key));
    if (entry == ABSENT) {
      return State.UNKNOWN;
    }
    long word = Words.loadPlain(memory, entry);
    if (address < (word & Address.MASK)) {
      return State.DEAD;
    }
    return word == address ? State.NEWEST : State.UNKNOWN;
  }

  @Override
  public void close() {
    buffers.give(memory);
  }

  private long slotBytes() {
    return (slotMask + 1) * Integer.BYTES;
  }

  private boolean isDead(long entry) {
    return (Words.loadPlain(memory, entry) & DEAD) != 0;
  }

  private boolean reopen(long entry, long word) {
    open += isDead(entry) ? 1 : 0;
    Words.storePlain(memory, entry, word);
    return true;
  }

  private boolean add(long slot, ByteSpan key, long word) {
    long bytes = HEADER + Words.align(key.length());
    if (used + bytes > memory.byteSize() || keys > slotMask / 2) {
      return false;
    }
    Words.storePlain(memory, used, word);
    Words.storePlain(memory, used + Long.BYTES, header(hash(key), key));
    MemorySegment.copy(key.memory(), key.offset(), memory, used + HEADER, key.length());
    memory.set(ValueLayout.JAVA_INT, slot, (int) (used / Long.BYTES));
    used += bytes;
    keys++;
    open++;
    return true;
  }

  /** Offset of the slot with the key, or of the free slot for it. */
  private long slot(ByteSpan key) {
    long hash = hash(key);
    long header = header(hash, key);
    for (long number = hash & slotMask; ; number = number + 1 & slotMask) {
      long slot = number * Integer.BYTES;
      long entry = entry(slot);
      if (entry == ABSENT || isOf(entry, header, key)) {
        return slot;
      }
    }
  }

  private long entry(long slot) {
    int number = memory.get(ValueLayout.JAVA_INT, slot);
    return number == 0 ? ABSENT : Integer.toUnsignedLong(number) * Long.BYTES;
  }

  private static long header(long hash, ByteSpan key) {
    return (hash & HASH_PART) | key.length();
  }

  private boolean isOf(long entry, long header, ByteSpan key) {
    int length = key.length();
    long from = entry + HEADER;
    return Words.loadPlain(memory, entry + Long.BYTES) == header
        && MemorySegment.mismatch(
                memory, from, from + length, key.memory(), key.offset(), key.offset() + length)
            < 0;
  }

  private static long hash(ByteSpan key) {
    MemorySegment from = key.memory();
    long at = key.offset();
    long end = at + key.length();
    long state = SEED ^ key.length();
    for (; at + Long.BYTES <= end; at += Long.BYTES) {
      state = fold(state ^ from.get(ValueLayout.JAVA_LONG_UNALIGNED, at));
    }
    for (; at < end; at++) {
      state = fold(state ^ from.get(ValueLayout.JAVA_BYTE, at));
    }
    return state ^ state >>> 32;
  }

  private static long fold(long word) {
    return word * MIX ^ Math.unsignedMultiplyHigh(word, MIX);
  }
}
