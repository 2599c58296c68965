package io.fasterkv.operation.fastpath;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.index.IndexTable;
import io.fasterkv.index.IndexView;
import io.fasterkv.log.LogView;
import io.fasterkv.memory.Words;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.record.SpanRecord;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Prefetches the buckets of a group of keys, and then their newest records, so that the cache
 * misses of many operations overlap. It changes and decides nothing: the operations themselves
 * search again.
 */
public final class Prefetcher implements AutoCloseable {
  public static final int GROUP = LongPath.GROUP;

  /** Maximum length of a key that is prefetched: longer ones are not worth a second copy. */
  public static final int KEY_BYTES = 64;

  /**
   * The first line of a record contains the header and a short key, the second often a short value.
   */
  static final int LINE_BYTES = 64;

  /** The rest of a longer record is fetched by the processor's own prefetcher. */
  static final int MOST_BYTES = 1 << 10;

  private final Engine engine;
  private final LogView log;
  private final long lastWord;
  private final long[] hashes = new long[GROUP];
  private final long[] places = new long[GROUP];
  private @Nullable IndexView index;
  private @Nullable MemorySegment keyBuffer;

  /** Written but never read: keeps the compiler from removing the prefetch. */
  @SuppressWarnings("UnusedVariable")
  private long touched;

  public Prefetcher(Engine engine) {
    this.engine = engine;
    log = engine.log().view();
    lastWord = log.memory().byteSize() - Long.BYTES;
  }

  /**
   * Prefetches for operations on these keys that the caller, who must not be protected, makes next.
   */
  public void prefetch(ByteSpan[] keys, int from, int count, EpochUser user) {
    MemorySegment buffer = keyBuffer();
    if (buffer != null) {
      prefetch(hashKeys(keys, from, count, buffer), user, true);
    }
  }

  /**
   * Like the other method, for a caller that needs only the heads of the keys' chains and lends
   * {@link #KEY_BYTES} of native memory.
   */
  public void prefetchHeads(ByteSpan[] keys, int count, EpochUser user, MemorySegment buffer) {
    prefetch(hashKeys(keys, 0, count, buffer), user, false);
  }

  private void prefetch(int hashed, EpochUser user, boolean withValues) {
    user.protect();
    try {
      IndexView view = view();
      if (view != null) {
        prefetchBuckets(view, hashed);
        findRecords(view, hashed);
        prefetchHeads(hashed);
        if (withValues) {
          prefetchRest(hashed);
        }
      }
    } finally {
      user.unprotect();
    }
  }

  private int hashKeys(ByteSpan[] keys, int from, int count, MemorySegment buffer) {
    int hashed = 0;
    for (int i = from; i < from + count; i++) {
      ByteSpan key = keys[i];
      int length = key.length();
      if (length <= KEY_BYTES) {
        // Copied, so that the hash function sees only one kind of memory and stays well compiled.
        MemorySegment.copy(key.memory(), key.offset(), buffer, 0, length);
        hashes[hashed++] = engine.hash(buffer, 0, length);
      }
    }
    return hashed;
  }

  private void prefetchBuckets(IndexView view, int count) {
    for (int i = 0; i < count; i++) {
      places[i] = view.bucket(hashes[i]);
    }
    long sum = 0;
    for (int i = 0; i < count; i++) {
      sum += view.prefetch(places[i]);
    }
    touched = sum;
  }

  private void findRecords(IndexView view, int count) {
    long head = log.readableFrom();
    for (int i = 0; i < count; i++) {
      long address = view.address(places[i], hashes[i]);
      places[i] = address < head ? 0 : log.offset(address);
    }
  }

  private void prefetchHeads(int count) {
    long sum = 0;
    for (int i = 0; i < count; i++) {
      sum += Words.loadPlain(log.memory(), places[i]);
      sum += Words.loadPlain(log.memory(), Math.min(places[i] + LINE_BYTES, lastWord));
    }
    touched = sum;
  }

  private void prefetchRest(int count) {
    long sum = 0;
    for (int i = 0; i < count; i++) {
      sum += prefetchRest(places[i]);
    }
    touched = sum;
  }

  /** Prefetches the rest of a record, whose first lines are in the cache and tell its length. */
  private long prefetchRest(long record) {
    if (record == 0) {
      return 0;
    }
    MemorySegment memory = log.memory();
    long bytes = Math.min(SpanRecord.usedBytes(memory, record), MOST_BYTES);
    long sum = 0;
    for (long at = 2 * LINE_BYTES; at < bytes; at += LINE_BYTES) {
      sum += Words.loadPlain(memory, Math.min(record + at, lastWord));
    }
    return sum;
  }

  private @Nullable IndexView view() {
    IndexTable now = engine.index().stableTable();
    if (now == null) {
      return null;
    }
    if (index == null || index.table() != now) {
      index = IndexView.of(now);
    }
    return index;
  }

  /** Null if scratch memory is used up; then nothing is prefetched. */
  private @Nullable MemorySegment keyBuffer() {
    if (keyBuffer == null) {
      keyBuffer = engine.buffers().tryTake(KEY_BYTES);
    }
    return keyBuffer;
  }

  @Override
  public void close() {
    if (keyBuffer != null) {
      engine.buffers().give(keyBuffer);
      keyBuffer = null;
    }
  }
}
