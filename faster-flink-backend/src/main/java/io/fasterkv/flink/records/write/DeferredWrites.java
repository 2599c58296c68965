package io.fasterkv.flink.records.write;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.CompositeKey;
import java.util.Arrays;
import java.util.function.IntFunction;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Buffers a few writes and then makes them together, in order. A write waits for two cache misses
 * in sequence: a bucket, then a record. When several writes are prefetched first, their misses
 * overlap (group prefetching; decision 0045).
 *
 * <p>Only consecutive writes are buffered. A caller that reads between its writes has the record in
 * the cache when it writes, and the next read would flush the buffer anyway. The buffer copies what
 * a write needs. If a write fails, neither it nor any later write is made, and each later call
 * fails too, so no snapshot can be taken without them. For one thread at a time.
 */
final class DeferredWrites implements StateWrites {
  /** The first writes of a sequence, which are made at once. */
  static final int LEAD = 4;

  /** Number of writes that are made together. */
  static final int GROUP = 16;

  /** Maximum length of keys that are prefetched. */
  private static final int KEY_BYTES = 60;

  /** Maximum length of a buffered write, without its key. */
  static final int MOST_BYTES = 1 << 10;

  /** The kind of a write. */
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
  private final ObjIntConsumer<ByteSpan[]> prefetch;
  private final IntFunction<String> names;
  private final Kind[] kinds = new Kind[GROUP];
  private final CompositeKey[] keys = new CompositeKey[GROUP];
  private final ByteSpan[] heads = new ByteSpan[GROUP];

  /** End of each write's bytes, and how many of them are the user key. */
  private final int[] ends = new int[GROUP];

  private final int[] keyLengths = new int[GROUP];
  private byte[] bytes = NOTHING;
  private int count;
  private int inRow;

  /** The thread whose writes are buffered; other threads compare it with themselves. */
  private @Nullable Thread holder;

  private @Nullable Throwable failure;

  /**
   * @param direct makes the writes
   * @param prefetch prefetches what writes to the first n keys need
   * @param names names of states by number
   */
  DeferredWrites(
      StateWrites direct, ObjIntConsumer<ByteSpan[]> prefetch, IntFunction<String> names) {
    this.direct = direct;
    this.prefetch = prefetch;
    this.names = names;
    Arrays.fill(kinds, Kind.PUT_VALUE);
    Arrays.setAll(keys, i -> new CompositeKey());
    Arrays.fill(heads, new ByteSpan());
  }

  /** Like {@link #settle} if the caller is the writing thread; does nothing for other threads. */
  void settleOwn() {
    if (holder == Thread.currentThread()) {
      settle();
    }
  }

  /**
   * Makes the buffered writes and ends the sequence of writes.
   *
   * @throws IllegalStateException if a write fails or has failed before
   */
  void settle() {
    inRow = 0;
    if (count > 0) {
      make();
    }
  }

  @Override
  public void putValue(CompositeKey key, byte[] source, int offset, int length) {
    if (isBuffered(key, length)) {
      add(Kind.PUT_VALUE, key, source, offset, length, 0);
    } else {
      direct.putValue(key, source, offset, length);
    }
  }

  @Override
  public void removeValue(CompositeKey key) {
    if (isBuffered(key, 0)) {
      add(Kind.REMOVE_VALUE, key, NOTHING, 0, 0, 0);
    } else {
      direct.removeValue(key);
    }
  }

  @Override
  public void setList(CompositeKey key, byte[] elements, int offset, int length) {
    if (isBuffered(key, length)) {
      add(Kind.SET_LIST, key, elements, offset, length, 0);
    } else {
      direct.setList(key, elements, offset, length);
    }
  }

  @Override
  public void append(CompositeKey key, byte[] elements, int offset, int length) {
    if (isBuffered(key, length)) {
      add(Kind.APPEND, key, elements, offset, length, 0);
    } else {
      direct.append(key, elements, offset, length);
    }
  }

  @Override
  public void removeList(CompositeKey key) {
    if (isBuffered(key, 0)) {
      add(Kind.REMOVE_LIST, key, NOTHING, 0, 0, 0);
    } else {
      direct.removeList(key);
    }
  }

  @Override
  public void putEntry(
      CompositeKey key, byte[] source, int offset, int keyLength, int valueLength) {
    int length = keyLength + valueLength;
    if (isBuffered(key, length)) {
      add(Kind.PUT_ENTRY, key, source, offset, length, keyLength);
    } else {
      direct.putEntry(key, source, offset, keyLength, valueLength);
    }
  }

  @Override
  public void removeEntry(CompositeKey key, byte[] source, int offset, int length) {
    if (isBuffered(key, length)) {
      add(Kind.REMOVE_ENTRY, key, source, offset, length, length);
    } else {
      direct.removeEntry(key, source, offset, length);
    }
  }

  @Override
  public void clearMap(CompositeKey key) {
    if (isBuffered(key, 0)) {
      add(Kind.CLEAR_MAP, key, NOTHING, 0, 0, 0);
    } else {
      direct.clearMap(key);
    }
  }

  /** Whether a write is buffered. If not, all writes before it have been made. */
  private boolean isBuffered(CompositeKey key, int length) {
    boolean isBuffered = inRow == LEAD && length <= MOST_BYTES && key.prefixLength() <= KEY_BYTES;
    if (count == GROUP || (count > 0 && !isBuffered)) {
      make();
    }
    if (inRow < LEAD) {
      inRow++;
    }
    return isBuffered;
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
      prefetch.accept(heads, count);
      while (next < count) {
        make(next);
        next++;
      }
    } catch (RuntimeException | Error e) {
      failure = e;
      count = GROUP; // Keeps later calls from adding a write.
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
