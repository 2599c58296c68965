package io.fasterkv.flink.records.list;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.base.PartLayout;
import io.fasterkv.flink.records.base.Records;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot of one list's elements. They stay in the store until they are read, even if the list
 * is cleared: compaction keeps its chunks while this object is reachable. A chunk is copied to the
 * heap before it is appended to or overwritten. For the list's thread.
 */
public final class ListSnapshot {
  /** Position of the first group. */
  public static final int FIRST = 1;

  /** What {@link #readGroup} returns after the last group. */
  public static final int END = 0;

  private static final int FEW = 16;

  private final @Nullable Source source;
  private final int last;

  /** Chunks on the heap, without their incarnation; an empty array for a chunk that has expired. */
  private final Map<Integer, byte[]> kept = new HashMap<>();

  private boolean isHeld;

  /** Where the store has the chunks. */
  private static final class Source {
    private final Records records;
    private final byte[] prefix;
    private final long incarnation;
    private final CompositeKey key;

    Source(Records records, byte[] prefix, long incarnation) {
      this.records = records;
      this.prefix = prefix;
      this.incarnation = incarnation;
      this.key = new CompositeKey().setPrefix(prefix, 0, prefix.length);
    }

    /**
     * Appends a chunk's bytes without the first {@code skip}; returns its tag or {@link
     * Records#ABSENT}.
     */
    int append(int number, int skip, Bytes into) {
      int tag = records.appendPart(key.record(number), incarnation, skip, into);
      if (tag == Records.ABSENT) {
        records.checkMayMiss(key, number);
      }
      return tag;
    }
  }

  private ListSnapshot(@Nullable Source source, int last) {
    this.source = source;
    this.last = last;
  }

  /** A list whose chunks 1 to {@code last} are in the store. */
  static ListSnapshot inStore(Records records, byte[] prefix, long incarnation, int last) {
    return new ListSnapshot(new Source(records, prefix, incarnation), last);
  }

  /** A list with one chunk on the heap: the head record of an inline list. */
  static ListSnapshot of(Bytes chunk) {
    ListSnapshot chunks = new ListSnapshot(null, FIRST);
    chunks.kept.put(FIRST, Arrays.copyOf(chunk.array(), chunk.length()));
    return chunks;
  }

  /** The only chunk of an inline list, with its tag; null for other lists. */
  public byte @Nullable [] whole() {
    return source == null ? kept.get(FIRST) : null;
  }

  /** Whether the list is short enough to be copied to the heap at once. */
  public boolean areFew() {
    return last <= FEW;
  }

  boolean isOf(CompositeKey other) {
    return source != null && other.hasPrefix(source.prefix);
  }

  public boolean isOnHeap() {
    return kept.size() == last;
  }

  /** Called before a chunk changes: copies it to the heap if it belongs to the list. */
  void keep(int number) {
    if (source != null && number <= last && !kept.containsKey(number)) {
      Bytes chunk = new Bytes();
      int tag = source.append(number, PartLayout.INCARNATION_BYTES, chunk);
      kept.put(
          number,
          tag == Records.ABSENT ? new byte[0] : Arrays.copyOf(chunk.array(), chunk.length()));
    }
  }

  /** Copies all chunks to the heap. */
  void keepAll() {
    for (int number = FIRST; number <= last; number++) {
      keep(number);
    }
  }

  /** Called before the list is removed: tells compaction to keep its chunks in the store. */
  void hold() {
    if (source != null && !isHeld) {
      isHeld = true;
      source.records.incarnations().hold(source.incarnation, this);
    }
  }

  /**
   * Reads whole elements, with separators between them; none if the rest has expired.
   *
   * @param at {@link #FIRST} or what the last call returned
   * @param into receives the elements
   * @return the position of the next group, or {@link #END}
   */
  public int readGroup(int at, Bytes into) {
    into.clear();
    boolean isContinued = false;
    for (int next = at; next <= last; next++) {
      int tag = load(next, into, isContinued);
      isContinued = tag != Records.ABSENT && ListLayout.isContinued(tag);
      if (tag == Records.ABSENT) {
        into.clear();
      } else if (!isContinued && into.length() > 0) {
        return next == last ? END : next + 1;
      }
    }
    into.clear();
    return END;
  }

  /** Appends a chunk's elements if it continues what was read before; returns its tag. */
  private int load(int number, Bytes into, boolean isContinued) {
    int before = into.length();
    int tag = load(number, into);
    if (tag == Records.ABSENT) {
      return Records.ABSENT;
    }
    boolean isWithin = ListLayout.isWithin(tag);
    if (isWithin && !isContinued) {
      return Records.ABSENT;
    }
    if (isWithin) {
      into.cut(before, ListLayout.START_BYTES);
    } else {
      into.cut(0, before);
    }
    return tag;
  }

  private int load(int number, Bytes into) {
    byte[] chunk = kept.get(number);
    if (chunk == null) {
      return source == null
          ? Records.ABSENT
          : source.append(number, ListLayout.CHUNK_HEAD_BYTES, into);
    }
    if (chunk.length == 0) {
      return Records.ABSENT;
    }
    into.append(chunk, ListLayout.TAG_BYTES, chunk.length - ListLayout.TAG_BYTES);
    return chunk[ListLayout.TAG_AT];
  }
}
