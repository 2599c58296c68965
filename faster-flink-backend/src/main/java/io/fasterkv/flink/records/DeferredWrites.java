package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.CompositeKey;
import java.util.Arrays;
import java.util.function.IntFunction;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Holds back a few writes and makes them together, in their order. A write waits for two misses of
 * the cache, one after the other, a bucket and a record; the misses of several writes are waited
 * for at the same time if what they need is touched first (group prefetching; decision 0045).
 *
 * <p>Only writes that come in a row are held back: who reads in between has its record in the cache
 * when it writes, and would have it made at once by the next read. What a write needs is copied. If
 * one fails, neither it nor those behind it are made, and nothing else ever is: each later call
 * fails, so no snapshot is taken without them. For one thread at a time.
 */
final class DeferredWrites implements StateWrites {
  /** So many writes in a row are made at once. */
  static final int LEAD = 4;

  /** So many writes are made together. */
  static final int GROUP = 16;

  /** Longer keys are not touched ahead. */
  private static final int KEY_BYTES = 64;

  /** What a write carries along, beside its key, if it is held back. */
  static final int MOST_BYTES = 1 << 10;

  /** What a write is. */
  private enum Kind {
    PUT_VALUE,
    REMOVE_VALUE,
    SET_LIST,
    APPEND,
    REMOVE_LIST,
    PUT_ENTRY,
    REMOVE_ENTRY,
    CLEAR_MAP
  }

  private static final byte[] NOTHING = new byte[0];

  private final StateWrites direct;
  private final ObjIntConsumer<ByteSpan[]> touch;
  private final IntFunction<String> names;
  private final Kind[] kinds = new Kind[GROUP];
  private final CompositeKey[] keys = new CompositeKey[GROUP];
  private final ByteSpan[] heads = new ByteSpan[GROUP];

  /** Where the bytes of each write end, and how many of them are a user key. */
  private final int[] ends = new int[GROUP];

  private final int[] keyLengths = new int[GROUP];
  private byte[] bytes = NOTHING;
  private int count;
  private int inRow;

  /** Whose writes are held back; others may look whether it is they. */
  private @Nullable Thread holder;

  private @Nullable Throwable failure;

  /**
   * Holds nothing back yet.
   *
   * @param direct makes the writes
   * @param touch brings what the first so many keys need into the cache
   * @param names of states, by their numbers
   */
  DeferredWrites(StateWrites direct, ObjIntConsumer<ByteSpan[]> touch, IntFunction<String> names) {
    this.direct = direct;
    this.touch = touch;
    this.names = names;
    Arrays.fill(kinds, Kind.PUT_VALUE);
    Arrays.setAll(keys, i -> new CompositeKey());
    Arrays.fill(heads, new ByteSpan());
  }

  /** As {@link #settle} if the caller is who writes; for callers who may be others. */
  void settleOwn() {
    if (holder == Thread.currentThread()) {
      settle();
    }
  }

  /**
   * Makes what has been held back; the row of writes has ended.
   *
   * @throws IllegalStateException if a write fails, or one has failed before
   */
  void settle() {
    inRow = 0;
    if (count > 0) {
      make();
    }
  }

  @Override
  public void putValue(CompositeKey key, byte[] source, int offset, int length) {
    if (isHeldBack(key, length)) {
      add(Kind.PUT_VALUE, key, source, offset, length, 0);
    } else {
      direct.putValue(key, source, offset, length);
    }
  }

  @Override
  public void removeValue(CompositeKey key) {
    if (isHeldBack(key, 0)) {
      add(Kind.REMOVE_VALUE, key, NOTHING, 0, 0, 0);
    } else {
      direct.removeValue(key);
    }
  }

  @Override
  public void setList(CompositeKey key, byte[] elements, int offset, int length) {
    if (isHeldBack(key, length)) {
      add(Kind.SET_LIST, key, elements, offset, length, 0);
    } else {
      direct.setList(key, elements, offset, length);
    }
  }

  @Override
  public void append(CompositeKey key, byte[] elements, int offset, int length) {
    if (isHeldBack(key, length)) {
      add(Kind.APPEND, key, elements, offset, length, 0);
    } else {
      direct.append(key, elements, offset, length);
    }
  }

  @Override
  public void removeList(CompositeKey key) {
    if (isHeldBack(key, 0)) {
      add(Kind.REMOVE_LIST, key, NOTHING, 0, 0, 0);
    } else {
      direct.removeList(key);
    }
  }

  @Override
  public void putEntry(
      CompositeKey key, byte[] source, int offset, int keyLength, int valueLength) {
    int length = keyLength + valueLength;
    if (isHeldBack(key, length)) {
      add(Kind.PUT_ENTRY, key, source, offset, length, keyLength);
    } else {
      direct.putEntry(key, source, offset, keyLength, valueLength);
    }
  }

  @Override
  public void removeEntry(CompositeKey key, byte[] source, int offset, int length) {
    if (isHeldBack(key, length)) {
      add(Kind.REMOVE_ENTRY, key, source, offset, length, length);
    } else {
      direct.removeEntry(key, source, offset, length);
    }
  }

  @Override
  public void clearMap(CompositeKey key) {
    if (isHeldBack(key, 0)) {
      add(Kind.CLEAR_MAP, key, NOTHING, 0, 0, 0);
    } else {
      direct.clearMap(key);
    }
  }

  /** Whether a write is held back; if not, all before it have been made. */
  private boolean isHeldBack(CompositeKey key, int length) {
    boolean isHeldBack = inRow == LEAD && length <= MOST_BYTES && key.head().length() <= KEY_BYTES;
    if (count == GROUP || (count > 0 && !isHeldBack)) {
      make();
    }
    if (inRow < LEAD) {
      inRow++;
    }
    return isHeldBack;
  }

  private void add(
      Kind kind, CompositeKey key, byte[] source, int offset, int length, int keyLength) {
    int start = 0;
    if (count > 0) {
      start = ends[count - 1];
    } else {
      begin();
    }
    System.arraycopy(source, offset, bytes, start, length);
    kinds[count] = kind;
    keys[count].setPrefix(key);
    heads[count] = keys[count].head();
    keyLengths[count] = keyLength;
    ends[count] = start + length;
    count++;
  }

  private void begin() {
    holder = Thread.currentThread();
    if (bytes.length == 0) {
      bytes = new byte[GROUP * MOST_BYTES];
    }
  }

  private void make() {
    if (failure != null) {
      throw new IllegalStateException(
          "a buffered write has failed before; restart the task from its last checkpoint", failure);
    }
    int next = 0;
    try {
      touch.accept(heads, count);
      while (next < count) {
        make(next);
        next++;
      }
    } catch (RuntimeException | Error e) {
      failure = e;
      count = GROUP; // Nothing is added any more.
      throw failed(next, e);
    }
    count = 0;
  }

  private RuntimeException failed(int at, Throwable cause) {
    if (cause instanceof Error error) {
      throw error;
    }
    return new IllegalStateException(
        "a buffered write has failed: write="
            + kinds[at]
            + ", state="
            + names.apply(keys[at].state()),
        cause);
  }

  private void make(int at) {
    CompositeKey key = keys[at];
    int start = at == 0 ? 0 : ends[at - 1];
    int length = ends[at] - start;
    switch (kinds[at]) {
      case PUT_VALUE -> direct.putValue(key, bytes, start, length);
      case REMOVE_VALUE -> direct.removeValue(key);
      case SET_LIST -> direct.setList(key, bytes, start, length);
      case APPEND -> direct.append(key, bytes, start, length);
      case REMOVE_LIST -> direct.removeList(key);
      case PUT_ENTRY -> direct.putEntry(key, bytes, start, keyLengths[at], length - keyLengths[at]);
      case REMOVE_ENTRY -> direct.removeEntry(key, bytes, start, length);
      case CLEAR_MAP -> direct.clearMap(key);
    }
  }
}
