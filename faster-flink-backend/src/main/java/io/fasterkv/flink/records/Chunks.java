package io.fasterkv.flink.records;

import io.fasterkv.flink.key.CompositeKey;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The elements of one list as they were when it was read. They stay in the store until they are
 * asked for, or until the list is about to change: then they are copied to the heap first. For the
 * thread of the list.
 */
public final class Chunks {
  /** Where the first group is. */
  public static final int FIRST = 1;

  /** What {@link #readGroup} returns after the last group. */
  public static final int END = 0;

  private static final int FEW = 16;

  private final @Nullable Records records;
  private final CompositeKey key = new CompositeKey();
  private final byte[] prefix;
  private final int last;
  private byte @Nullable [][] copies;

  /** The chunks 1 to {@code last}, which lie in the store. */
  Chunks(Records records, byte[] prefix, int last) {
    this.records = records;
    this.prefix = prefix;
    this.last = last;
    key.setPrefix(prefix, 0, prefix.length);
  }

  private Chunks(byte[] onlyChunk) {
    this.records = null;
    this.prefix = new byte[0];
    this.last = FIRST;
    this.copies = new byte[][] {onlyChunk};
  }

  /** One chunk that is on the heap: an inline list's head record. */
  static Chunks of(Bytes chunk) {
    return new Chunks(Arrays.copyOf(chunk.array(), chunk.length()));
  }

  /** Whether the list is short enough to copy it to the heap without a thought. */
  boolean areFew() {
    return last <= FEW;
  }

  boolean isOf(CompositeKey other) {
    return other.hasPrefix(prefix);
  }

  boolean isDetached() {
    return copies != null;
  }

  /** Copies what is left in the store to the heap. */
  void detach() {
    if (copies == null) {
      byte[][] all = new byte[last][];
      Bytes chunk = new Bytes();
      for (int number = FIRST; number <= last; number++) {
        chunk.clear();
        fetch(number, 0, chunk);
        all[number - FIRST] = Arrays.copyOf(chunk.array(), chunk.length());
      }
      copies = all;
    }
  }

  /**
   * Reads whole elements, with separators between them.
   *
   * @param at {@link #FIRST} or what the last call returned
   * @param into takes the elements
   * @return where the next group is, or {@link #END}
   */
  public int readGroup(int at, Bytes into) {
    into.clear();
    int next = at;
    int tag;
    do {
      tag = load(next++, into);
    } while (tag == ListLayout.CONTINUES);
    return next > last ? END : next;
  }

  private int load(int number, Bytes into) {
    byte[][] onHeap = copies;
    if (onHeap == null) {
      return fetch(number, ListLayout.TAG_BYTES, into);
    }
    byte[] chunk = onHeap[number - FIRST];
    into.append(chunk, ListLayout.TAG_BYTES, chunk.length - ListLayout.TAG_BYTES);
    return chunk[ListLayout.TAG_AT];
  }

  private int fetch(int number, int skip, Bytes into) {
    int tag = records == null ? Records.ABSENT : records.append(key.record(number), skip, into);
    if (tag == Records.ABSENT) {
      throw new IllegalStateException(
          "a chunk of a list is missing: chunk=" + number + ", last=" + last);
    }
    return tag;
  }
}
