package io.fasterkv.flink.records;

import io.fasterkv.flink.key.CompositeKey;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The elements of one list as they were when it was read. They stay in the store until they are
 * asked for, also when the list is cleared: compaction leaves its chunks alone as long as this is
 * reachable. Before a chunk is written to, or over, it is copied to the heap. For the thread of the
 * list.
 */
public final class Chunks {
  /** Where the first group is. */
  public static final int FIRST = 1;

  /** What {@link #readGroup} returns after the last group. */
  public static final int END = 0;

  private static final int FEW = 16;

  private final @Nullable Source source;
  private final int last;

  /** Chunks on the heap, without their identity; none of a chunk that has expired. */
  private final Map<Integer, byte[]> kept = new HashMap<>();

  private boolean isHeld;

  /** Where the chunks lie. */
  private static final class Source {
    private final Records records;
    private final byte[] prefix;
    private final long identity;
    private final CompositeKey key;

    Source(Records records, byte[] prefix, long identity) {
      this.records = records;
      this.prefix = prefix;
      this.identity = identity;
      this.key = new CompositeKey().setPrefix(prefix, 0, prefix.length);
    }

    /** Adds a chunk's bytes, without the first {@code skip}; its tag, or {@link Records#ABSENT}. */
    int append(int number, int skip, Bytes into) {
      int tag = records.appendPart(key.record(number), identity, skip, into);
      if (tag == Records.ABSENT) {
        records.checkMayMiss(key, number);
      }
      return tag;
    }
  }

  private Chunks(@Nullable Source source, int last) {
    this.source = source;
    this.last = last;
  }

  /** The chunks 1 to {@code last}, which lie in the store. */
  static Chunks inStore(Records records, byte[] prefix, long identity, int last) {
    return new Chunks(new Source(records, prefix, identity), last);
  }

  /** One chunk that is on the heap: an inline list's head record. */
  static Chunks of(Bytes chunk) {
    Chunks chunks = new Chunks(null, FIRST);
    chunks.kept.put(FIRST, Arrays.copyOf(chunk.array(), chunk.length()));
    return chunks;
  }

  /** The only chunk, with its tag, of a list that is on the heap as one; else null. */
  public byte @Nullable [] whole() {
    return source == null ? kept.get(FIRST) : null;
  }

  /** Whether the list is short enough to copy it to the heap without a thought. */
  public boolean areFew() {
    return last <= FEW;
  }

  boolean isOf(CompositeKey other) {
    return source != null && other.hasPrefix(source.prefix);
  }

  boolean isOnHeap() {
    return kept.size() == last;
  }

  /** Before a chunk changes: copies it to the heap, if it belongs to the list. */
  void keep(int number) {
    if (source != null && number <= last && !kept.containsKey(number)) {
      Bytes chunk = new Bytes();
      int tag = source.append(number, PartLayout.IDENTITY_BYTES, chunk);
      kept.put(
          number,
          tag == Records.ABSENT ? new byte[0] : Arrays.copyOf(chunk.array(), chunk.length()));
    }
  }

  /** Copies all to the heap. */
  void keepAll() {
    for (int number = FIRST; number <= last; number++) {
      keep(number);
    }
  }

  /** Before the list goes: compaction is to leave what is in the store. */
  void hold() {
    if (source != null && !isHeld) {
      isHeld = true;
      source.records.identities().hold(source.identity, this);
    }
  }

  /**
   * Reads whole elements, with separators between them; none if what is left has expired.
   *
   * @param at {@link #FIRST} or what the last call returned
   * @param into takes the elements
   * @return where the next group is, or {@link #END}
   */
  public int readGroup(int at, Bytes into) {
    into.clear();
    boolean goesOn = false;
    for (int next = at; next <= last; next++) {
      int tag = load(next, into, goesOn);
      goesOn = tag != Records.ABSENT && ListLayout.goesOn(tag);
      if (tag == Records.ABSENT) {
        into.clear();
      } else if (!goesOn && into.length() > 0) {
        return next == last ? END : next + 1;
      }
    }
    into.clear();
    return END;
  }

  /** Adds a chunk's elements, if it goes on with what was read before it; returns its tag. */
  private int load(int number, Bytes into, boolean goesOn) {
    int before = into.length();
    int tag = load(number, into);
    if (tag == Records.ABSENT) {
      return Records.ABSENT;
    }
    boolean isWithin = ListLayout.isWithin(tag);
    if (isWithin && !goesOn) {
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
