package io.fasterkv.operation.search;

import io.fasterkv.memory.BufferPool;
import io.fasterkv.memory.Words;
import io.fasterkv.record.Address;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Remembers, for walks that show nothing newer than a snapshot, where the chains of hashes begin
 * below that snapshot. New records go on top of a chain and never change the chain below, so a
 * noted address stays valid. The next walk for the hash begins there and skips the records that
 * were appended since.
 *
 * <p>A hash table of fixed size in scratch memory, allocated after the first long walk. A walk past
 * fewer than {@link #LONG_WALK} records is not worth an entry. A full set keeps the longest walks.
 * Each walk that finds no room halves the noted length of the shortest, so that entry is replaced
 * eventually and longer ones stay. Without memory for a table nothing is remembered. One thread at
 * a time.
 *
 * <pre>
 *   set:   4 entries, 64 bytes
 *   entry: | hash, 8 bytes | length of the walk, 16 bits | address, 48 bits |; 0 in the second word: free
 * </pre>
 */
final class ChainHeads {
  /** No address is known for the hash. */
  static final long UNKNOWN = -1;

  /** A walk past at least this many records is remembered. */
  static final int LONG_WALK = 8;

  private static final int ENTRY_BYTES = 2 * Long.BYTES;
  private static final int SET_BYTES = 4 * ENTRY_BYTES;
  private static final long MOST_BYTES = 4 << 20;
  private static final long MAX_LENGTH = (1L << Long.SIZE - Address.BITS) - 1;
  private static final long MIX = 0x9E3779B97F4A7C15L;

  private final BufferPool buffers;

  /** Scratch memory left free for others, unless the table has its minimum size. */
  private final long leaveBytes;

  private @Nullable MemorySegment table;

  ChainHeads(BufferPool buffers, long leaveBytes) {
    this.buffers = buffers;
    this.leaveBytes = leaveBytes;
  }

  /** Where the chain of a hash begins below the snapshot, or {@link #UNKNOWN}. */
  long find(long hash) {
    MemorySegment entries = table;
    if (entries != null) {
      long set = set(entries, hash);
      for (long at = set; at < set + SET_BYTES; at += ENTRY_BYTES) {
        long word = Words.loadPlain(entries, at + Long.BYTES);
        if (word != 0 && Words.loadPlain(entries, at) == hash) {
          return word & Address.MASK;
        }
      }
    }
    return UNKNOWN;
  }

  /** Notes the start of a chain that had no entry, after a walk past {@code records}. */
  void note(long hash, long address, long records) {
    if (records < LONG_WALK) {
      return;
    }
    if (table == null) {
      table = tryTake();
    }
    if (table != null) {
      put(table, hash, address, Math.min(records, MAX_LENGTH));
    }
  }

  private static void put(MemorySegment entries, long hash, long address, long length) {
    long set = set(entries, hash);
    long shortest = set;
    for (long at = set; at < set + SET_BYTES; at += ENTRY_BYTES) {
      if (length(entries, at) < length(entries, shortest)) {
        shortest = at;
      }
    }
    long least = length(entries, shortest);
    if (length >= least) {
      Words.storePlain(entries, shortest, hash);
      Words.storePlain(entries, shortest + Long.BYTES, length << Address.BITS | address);
    } else {
      long kept = Words.loadPlain(entries, shortest + Long.BYTES) & Address.MASK;
      Words.storePlain(entries, shortest + Long.BYTES, least / 2 << Address.BITS | kept);
    }
  }

  /** Length of an entry's walk; 0 if it is free. */
  private static long length(MemorySegment entries, long entry) {
    return Words.loadPlain(entries, entry + Long.BYTES) >>> Address.BITS;
  }

  private static long set(MemorySegment entries, long hash) {
    long sets = entries.byteSize() / SET_BYTES;
    return Math.unsignedMultiplyHigh(hash * MIX, sets) * SET_BYTES;
  }

  /**
   * Creates an empty table in a quarter of the free scratch memory, or in less if others need it.
   */
  private @Nullable MemorySegment tryTake() {
    long free = buffers.freeBytes();
    long bytes = Long.highestOneBit(Math.clamp(free / 4, BufferPool.MIN_BYTES, MOST_BYTES));
    while (bytes > BufferPool.MIN_BYTES && free - bytes < leaveBytes) {
      bytes /= 2;
    }
    @Nullable MemorySegment taken = buffers.tryTake((int) bytes);
    while (taken == null && bytes > BufferPool.MIN_BYTES) {
      bytes /= 2;
      taken = buffers.tryTake((int) bytes);
    }
    return taken == null ? null : taken.fill((byte) 0);
  }

  /** Returns the memory without touching it. */
  void close() {
    MemorySegment taken = table;
    table = null;
    if (taken != null) {
      buffers.give(taken);
    }
  }
}
