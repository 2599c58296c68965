package io.fasterkv.flink.records;

import io.fasterkv.Eviction;
import io.fasterkv.FasterStore;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.statistics.IndexStatistics;
import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.base.RecordEdit;
import io.fasterkv.flink.records.base.RecordReader;
import io.fasterkv.flink.records.base.Records;
import io.fasterkv.flink.records.base.ValueIncarnations;
import io.fasterkv.flink.records.map.EntryLife;
import io.fasterkv.flink.records.write.StateRecords;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Evicts all records before an operation, so that it finds its records on disk even if the state is
 * small. While the log is short, this happens before each operation, and later only before every
 * few, since each eviction may cost a sector of the log and a copy of the changed record. Counts
 * where the operations of all stores found records.
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

  private EvictingRecords(FasterStore store, ValueIncarnations incarnations, int thenEvery) {
    super(store, incarnations);
    this.store = store;
    this.eviction = new Eviction(store);
    this.thenEvery = thenEvery;
  }

  /**
   * A session that finds its records on disk.
   *
   * @param thenEvery number of operations from one eviction to the next once the log is no longer
   *     short
   */
  public static StateRecords open(
      FasterStore store,
      ValueIncarnations incarnations,
      IntFunction<@Nullable EntryLife> lives,
      int thenEvery) {
    return new StateRecords(new EvictingRecords(store, incarnations, thenEvery), lives);
  }

  /**
   * Percentage of sessions that read records from disk in nine of ten operations or more. Counts
   * sessions that found records and were closed since the last call.
   */
  public static long takePercentOnDisk() {
    long onDisk = SESSIONS_ON_DISK.getAndSet(0);
    long all = SESSIONS.getAndSet(0);
    return all == 0 ? 0 : 100 * onDisk / all;
  }

  private IndexStatistics before() {
    operations++;
    if (store.log().tailAddress() < SHORT_BYTES || operations % thenEvery == 0) {
      eviction.evict();
    }
    return store.statistics().index();
  }

  private void count(IndexStatistics before) {
    IndexStatistics after = store.statistics().index();
    boolean isOnDisk = after.recordsFromDisk() > before.recordsFromDisk();
    if (isOnDisk || after.recordsInMemory() > before.recordsInMemory()) {
      met++;
      metOnDisk += isOnDisk ? 1 : 0;
    }
  }

  @Override
  public boolean read(ByteSpan key, RecordReader reader) {
    IndexStatistics before = before();
    boolean isFound = super.read(key, reader);
    count(before);
    return isFound;
  }

  @Override
  public void put(ByteSpan key, byte[] bytes, int offset, int length) {
    IndexStatistics before = before();
    super.put(key, bytes, offset, length);
    count(before);
  }

  @Override
  public void put(ByteSpan key, Bytes value, int capacity) {
    IndexStatistics before = before();
    super.put(key, value, capacity);
    count(before);
  }

  @Override
  public void edit(ByteSpan key, RecordEdit edit) {
    IndexStatistics before = before();
    super.edit(key, edit);
    count(before);
  }

  @Override
  public void delete(ByteSpan key) {
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
