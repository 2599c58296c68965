package io.fasterkv.flink.records;

import io.fasterkv.Eviction;
import io.fasterkv.FasterStore;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.IndexStatistics;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Moves all records to disk before an operation, so that it meets there what it meets, however
 * small the state is: before each operation while the log is short, since each time may cost a
 * sector of it, and a copy of what is changed; then before every few. Counts where operations met
 * records, over all stores.
 */
public final class EvictingRecords extends Records {
  private static final long SHORT_BYTES = 256 << 10;

  private static final AtomicLong SESSIONS = new AtomicLong();
  private static final AtomicLong SESSIONS_ON_DISK = new AtomicLong();

  private final FasterStore store;
  private final Eviction eviction;
  private final int thenEvery;
  private long operations;
  private long met;
  private long metOnDisk;

  private EvictingRecords(FasterStore store, Identities identities, int thenEvery) {
    super(store, identities);
    this.store = store;
    this.eviction = new Eviction(store);
    this.thenEvery = thenEvery;
  }

  /**
   * A session that finds on disk what it asks for.
   *
   * @param thenEvery before which operations all is moved to disk when the log is not short
   */
  public static StateRecords open(
      FasterStore store,
      Identities identities,
      IntFunction<@Nullable EntryLife> lives,
      int thenEvery) {
    return new StateRecords(new EvictingRecords(store, identities, thenEvery), lives);
  }

  /**
   * Of 100 sessions that met records, how many read them from disk in nine operations of ten; of
   * those that were closed since this was last called.
   */
  public static long takePercentOnDisk() {
    long onDisk = SESSIONS_ON_DISK.getAndSet(0);
    long all = SESSIONS.getAndSet(0);
    return all == 0 ? 0 : 100 * onDisk / all;
  }

  private IndexStatistics before() {
    operations++;
    if (store.tailAddress() < SHORT_BYTES || operations % thenEvery == 0) {
      eviction.evict();
    }
    return store.indexStatistics();
  }

  private void count(IndexStatistics before) {
    IndexStatistics after = store.indexStatistics();
    boolean isOnDisk = after.recordsFromDisk() > before.recordsFromDisk();
    if (isOnDisk || after.recordsInMemory() > before.recordsInMemory()) {
      met++;
      metOnDisk += isOnDisk ? 1 : 0;
    }
  }

  @Override
  boolean read(ByteSpan key, RecordReader reader) {
    IndexStatistics before = before();
    boolean isFound = super.read(key, reader);
    count(before);
    return isFound;
  }

  @Override
  void put(ByteSpan key, byte[] bytes, int offset, int length) {
    IndexStatistics before = before();
    super.put(key, bytes, offset, length);
    count(before);
  }

  @Override
  void put(ByteSpan key, Bytes value, int capacity) {
    IndexStatistics before = before();
    super.put(key, value, capacity);
    count(before);
  }

  @Override
  void edit(ByteSpan key, RecordEdit edit) {
    IndexStatistics before = before();
    super.edit(key, edit);
    count(before);
  }

  @Override
  void delete(ByteSpan key) {
    IndexStatistics before = before();
    super.delete(key);
    count(before);
  }

  @Override
  public void close() {
    super.close();
    if (met > 0) {
      SESSIONS.incrementAndGet();
      SESSIONS_ON_DISK.addAndGet(10 * metOnDisk >= 9 * met ? 1 : 0);
    }
  }
}
