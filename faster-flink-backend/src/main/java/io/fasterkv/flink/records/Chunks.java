package io.fasterkv.flink.records;

import io.fasterkv.flink.key.CompositeKey;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The elements of one list as they were when it was read. They stay in the store until they are
 * asked for. When the list is about to grow, its last chunk is copied to the heap first, since no
 * other chunk will change; when it is about to go, all of them are. For the thread of the list.
 */
public final class Chunks {
  /** Where the first group is. */
  public static final int FIRST = 1;

  /** What {@link #readGroup} returns after the last group. */
  public static final int END = 0;

  private static final int FEW = 16;
  private static final byte[] GONE = new byte[0];

  private final @Nullable Source source;
  private final int last;
  private byte @Nullable [] copyOfLast;
  private byte @Nullable [][] copies;

  /** Where the chunks lie. */
  private static final class Source {
    private final Records records;
    private final byte[] prefix;
    private final CompositeKey key;

    Source(Records records, byte[] prefix) {
      this.records = records;
      this.prefix = prefix;
      this.key = new CompositeKey().setPrefix(prefix, 0, prefix.length);
    }

    /** Adds a chunk's bytes, without the first {@code skip}; its tag, or {@link Records#ABSENT}. */
    int append(int number, int skip, Bytes into) {
      return records.append(key.record(number), skip, into);
    }
  }

  private Chunks(@Nullable Source source, int last) {
    this.source = source;
    this.last = last;
  }

  /** The chunks 1 to {@code last}, which lie in the store. */
  static Chunks inStore(Records records, byte[] prefix, int last) {
    return new Chunks(new Source(records, prefix), last);
  }

  /** One chunk that is on the heap: an inline list's head record. */
  static Chunks of(Bytes chunk) {
    Chunks chunks = new Chunks(null, FIRST);
    chunks.copyOfLast = Arrays.copyOf(chunk.array(), chunk.length());
    return chunks;
  }

  /** The only chunk, with its tag, of a list that is on the heap as one; else null. */
  public byte @Nullable [] whole() {
    return source == null ? copyOfLast : null;
  }

  /** Whether the list is short enough to copy it to the heap without a thought. */
  public boolean areFew() {
    return last <= FEW;
  }

  boolean isOf(CompositeKey other) {
    return source != null && other.hasPrefix(source.prefix);
  }

  boolean isDetached() {
    return source == null || copies != null;
  }

  /** Before the list grows: copies the chunk that may change to the heap. */
  void keepLast() {
    if (!isDetached() && copyOfLast == null) {
      copyOfLast = copyOf(last, new Bytes());
    }
  }

  /** Before the list goes: copies all that is left in the store to the heap. */
  void detach() {
    if (!isDetached()) {
      byte[][] all = new byte[last][];
      Bytes chunk = new Bytes();
      for (int number = FIRST; number <= last; number++) {
        byte[] kept = number == last ? copyOfLast : null;
        all[number - FIRST] = kept == null ? copyOf(number, chunk) : kept;
      }
      copies = all;
    }
  }

  private byte[] copyOf(int number, Bytes chunk) {
    chunk.clear();
    if (fetch(number, 0, chunk) == Records.ABSENT) {
      return GONE;
    }
    return Arrays.copyOf(chunk.array(), chunk.length());
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
    byte[] chunk = copies != null ? copies[number - FIRST] : number == last ? copyOfLast : null;
    if (chunk == null) {
      return fetch(number, ListLayout.TAG_BYTES, into);
    }
    if (chunk.length == 0) {
      return Records.ABSENT;
    }
    into.append(chunk, ListLayout.TAG_BYTES, chunk.length - ListLayout.TAG_BYTES);
    return chunk[ListLayout.TAG_AT];
  }

  private int fetch(int number, int skip, Bytes into) {
    return source == null ? Records.ABSENT : source.append(number, skip, into);
  }
}
