package io.fasterkv.bench.store;

import io.fasterkv.FasterStore;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Values;

/** Passes operations on values of any size to the store in batches. */
final class FasterSpanBatches extends FasterSpanSession {
  private final int batch;
  private final ByteSpan[] keys;
  private final ByteSpan[] writeKeys;
  private final ByteSpan[] values;
  private final byte[][] outputs;
  private final Status[] statuses;

  FasterSpanBatches(FasterStore store, int valueBytes, int batch) {
    super(store, valueBytes);
    this.batch = batch;
    keys = spans(batch, Long.BYTES);
    writeKeys = spans(batch, Long.BYTES);
    values = spans(batch, valueBytes);
    outputs = new byte[batch][valueBytes];
    statuses = new Status[batch];
  }

  private static ByteSpan[] spans(int count, int bytes) {
    ByteSpan[] spans = new ByteSpan[count];
    for (int i = 0; i < count; i++) {
      spans[i] = ByteSpan.of(new byte[bytes]);
    }
    return spans;
  }

  @Override
  public void read(KeyStream stream, int from, int to) {
    for (int start = from; start < to; start += batch) {
      readBatch(setKeys(stream.keys(), start, to));
    }
  }

  private int setKeys(long[] all, int start, int to) {
    int count = Math.min(batch, to - start);
    for (int i = 0; i < count; i++) {
      keys[i].putLong(0, all[start + i]);
    }
    return count;
  }

  private void readBatch(int count) {
    session.read(keys, null, outputs, statuses, count, null);
    long sum = 0;
    for (int i = 0; i < count; i++) {
      sum += statuses[i] == Status.FOUND ? Values.fingerprintIn(SpanValues.number(outputs[i])) : 0;
    }
    counts.fingerprints += sum;
  }

  @Override
  public void upsert(KeyStream stream, int from, int to) {
    for (int start = from; start < to; start += batch) {
      int count = setKeys(stream.keys(), start, to);
      for (int i = 0; i < count; i++) {
        values[i].putLong(0, stream.values()[start + i]);
      }
      session.upsert(keys, values, statuses, count, null);
    }
  }

  @Override
  public void rmw(KeyStream stream, int from, int to) {
    for (int start = from; start < to; start += batch) {
      int count = setKeys(stream.keys(), start, to);
      session.rmw(keys, null, statuses, count, null);
    }
  }

  /** Makes the reads of a batch, then its writes. */
  @Override
  public void mix(KeyStream stream, int from, int to) {
    long[] all = stream.keys();
    for (int start = from; start < to; start += batch) {
      int count = Math.min(batch, to - start);
      int reads = 0;
      int writes = 0;
      for (int i = start; i < start + count; i++) {
        long element = all[i];
        if (KeyStream.isWrite(element)) {
          writeKeys[writes].putLong(0, KeyStream.key(element));
          values[writes++].putLong(0, stream.values()[i]);
        } else {
          keys[reads++].putLong(0, element);
        }
      }
      readBatch(reads);
      session.upsert(writeKeys, values, statuses, writes, null);
    }
  }
}
