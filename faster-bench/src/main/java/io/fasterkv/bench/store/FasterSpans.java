package io.fasterkv.bench.store;

import io.fasterkv.FasterStore;
import io.fasterkv.api.Status;
import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Values;

/** The store with keys of 8 bytes and values of any size, whose first 8 bytes are the number. */
final class FasterSpans implements BenchStore {
  /** Record header, lengths and key, rounded up generously. */
  private static final long RECORD_OVERHEAD_BYTES = 48;

  private final FasterStore store;
  private final int valueBytes;

  FasterSpans(StoreSettings settings, double mutableFraction) {
    valueBytes = settings.valueBytes();
    store = FasterSettings.open(settings, mutableFraction, RECORD_OVERHEAD_BYTES + valueBytes);
  }

  @Override
  public BenchSession newSession(int batch) {
    return batch == 1
        ? new OneAtATime(store, valueBytes)
        : new FasterSpanBatches(store, valueBytes, batch);
  }

  @Override
  public void close() {
    store.close();
  }

  private static final class OneAtATime extends FasterSpanSession {
    OneAtATime(FasterStore store, int valueBytes) {
      super(store, valueBytes);
    }

    @Override
    public void read(KeyStream stream, int from, int to) {
      long[] keys = stream.keys();
      long sum = 0;
      for (int i = from; i < to; i++) {
        sum += readOne(keys[i]);
      }
      counts.fingerprints += sum;
    }

    private long readOne(long number) {
      key.putLong(0, number);
      return session.read(key, null, output, null) == Status.FOUND
          ? Values.fingerprintIn(SpanValues.number(output))
          : 0;
    }

    @Override
    public void upsert(KeyStream stream, int from, int to) {
      long[] keys = stream.keys();
      long[] values = stream.values();
      for (int i = from; i < to; i++) {
        put(keys[i], values[i]);
      }
    }

    @Override
    public void rmw(KeyStream stream, int from, int to) {
      long[] keys = stream.keys();
      for (int i = from; i < to; i++) {
        key.putLong(0, keys[i]);
        session.rmw(key, null, null);
      }
    }

    @Override
    public void mix(KeyStream stream, int from, int to) {
      long[] keys = stream.keys();
      long[] values = stream.values();
      long sum = 0;
      for (int i = from; i < to; i++) {
        long element = keys[i];
        if (KeyStream.isWrite(element)) {
          put(KeyStream.key(element), values[i]);
        } else {
          sum += readOne(element);
        }
      }
      counts.fingerprints += sum;
    }
  }
}
