package io.fasterkv.bench.store;

import io.fasterkv.FasterStore;
import io.fasterkv.api.Status;
import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Values;

/** The store with {@code long} keys and values. */
public final class FasterLongs implements BenchStore {
  private static final long RECORD_BYTES = 24;

  private final FasterStore store;

  /** Uses an open store, which is closed with this object. */
  public FasterLongs(FasterStore store) {
    this.store = store;
  }

  FasterLongs(StoreSettings settings, double mutableFraction) {
    store = FasterSettings.open(settings, mutableFraction, RECORD_BYTES);
  }

  @Override
  public BenchSession newSession(int batch) {
    return batch == 1 ? new OneAtATime(store) : new FasterLongBatches(store, batch);
  }

  @Override
  public void close() {
    store.close();
  }

  private static final class OneAtATime extends FasterLongSession {
    OneAtATime(FasterStore store) {
      super(store);
    }

    @Override
    public void read(KeyStream stream, int from, int to) {
      long[] keys = stream.keys();
      long sum = 0;
      for (int i = from; i < to; i++) {
        if (session.read(keys[i], null) == Status.FOUND) {
          sum += Values.fingerprintIn(session.value());
        }
      }
      sums.fingerprints += sum;
      session.completePending(false);
    }

    @Override
    public void upsert(KeyStream stream, int from, int to) {
      long[] keys = stream.keys();
      long[] values = stream.values();
      for (int i = from; i < to; i++) {
        session.upsert(keys[i], values[i], null);
      }
    }

    @Override
    public void rmw(KeyStream stream, int from, int to) {
      long[] keys = stream.keys();
      for (int i = from; i < to; i++) {
        session.rmw(keys[i], 1, null);
      }
      session.completePending(false);
    }

    @Override
    public void mix(KeyStream stream, int from, int to) {
      long[] keys = stream.keys();
      long[] values = stream.values();
      long sum = 0;
      for (int i = from; i < to; i++) {
        long element = keys[i];
        if (KeyStream.isWrite(element)) {
          session.upsert(KeyStream.key(element), values[i], null);
        } else if (session.read(element, null) == Status.FOUND) {
          sum += Values.fingerprintIn(session.value());
        }
      }
      sums.fingerprints += sum;
      session.completePending(false);
    }
  }
}
