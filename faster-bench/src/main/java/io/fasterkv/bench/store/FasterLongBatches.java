package io.fasterkv.bench.store;

import io.fasterkv.FasterStore;
import io.fasterkv.api.Status;
import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Values;
import java.util.Arrays;

/** Passes operations on {@code long} keys to the store in batches, copied from the stream. */
final class FasterLongBatches extends FasterLongSession {
  private final int batch;
  private final long[] keys;
  private final long[] values;
  private final Status[] statuses;

  /** The writes of a mix, while the reads of the batch use the other arrays. */
  private final long[] writeKeys;

  private final long[] writeValues;
  private final long[] ones;

  FasterLongBatches(FasterStore store, int batch) {
    super(store);
    this.batch = batch;
    keys = new long[batch];
    values = new long[batch];
    writeKeys = new long[batch];
    writeValues = new long[batch];
    ones = new long[batch];
    statuses = new Status[batch];
    Arrays.fill(ones, 1);
  }

  @Override
  public void read(KeyStream stream, int from, int to) {
    long[] all = stream.keys();
    for (int start = from; start < to; start += batch) {
      int count = Math.min(batch, to - start);
      System.arraycopy(all, start, keys, 0, count);
      readBatch(count);
    }
    session.completePending(false);
  }

  /** Places of keys that were not found or are pending hold 0. */
  private void readBatch(int count) {
    session.read(keys, values, statuses, 0, count, null);
    long sum = 0;
    for (int i = 0; i < count; i++) {
      sum += Values.fingerprintIn(values[i]);
    }
    sums.fingerprints += sum;
  }

  @Override
  public void upsert(KeyStream stream, int from, int to) {
    for (int start = from; start < to; start += batch) {
      int count = Math.min(batch, to - start);
      System.arraycopy(stream.keys(), start, keys, 0, count);
      System.arraycopy(stream.values(), start, values, 0, count);
      session.upsert(keys, values, statuses, 0, count, null);
    }
  }

  @Override
  public void rmw(KeyStream stream, int from, int to) {
    long[] all = stream.keys();
    for (int start = from; start < to; start += batch) {
      int count = Math.min(batch, to - start);
      System.arraycopy(all, start, keys, 0, count);
      session.rmw(keys, ones, statuses, 0, count, null);
    }
    session.completePending(false);
  }

  /** Makes the reads of a batch, then its writes. */
  @Override
  public void mix(KeyStream stream, int from, int to) {
    long[] all = stream.keys();
    long[] allValues = stream.values();
    for (int start = from; start < to; start += batch) {
      int count = Math.min(batch, to - start);
      int reads = 0;
      int writes = 0;
      for (int i = start; i < start + count; i++) {
        long element = all[i];
        if (KeyStream.isWrite(element)) {
          writeKeys[writes] = KeyStream.key(element);
          writeValues[writes++] = allValues[i];
        } else {
          keys[reads++] = element;
        }
      }
      readBatch(reads);
      session.upsert(writeKeys, writeValues, statuses, 0, writes, null);
    }
    session.completePending(false);
  }
}
