package io.fasterkv.bench.store;

import io.fasterkv.FasterStore;
import io.fasterkv.LongSession;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.Status;
import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Values;

/** The store with {@code long} keys and values. */
final class FasterLongs implements BenchStore {
  private static final long RECORD_BYTES = 24;

  private final FasterStore store;

  FasterLongs(StoreSettings settings, double mutableFraction) {
    store = FasterSettings.open(settings, mutableFraction, RECORD_BYTES);
  }

  @Override
  public BenchSession newSession(int batch) {
    return new OneAtATime(store);
  }

  @Override
  public void close() {
    store.close();
  }

  /** Sums, which remember what reads found when they come back from the disk. */
  private static final class Sums implements LongFunctions<Void> {
    long fingerprints;
    long lastFound = Values.MISSING;

    @Override
    public long initialUpdater(long key, long input) {
      return input;
    }

    @Override
    public long updater(long key, long input, long oldValue) {
      return oldValue + input;
    }

    @Override
    public void completionCallback(Status status, long key, long value, Void context) {
      lastFound = status == Status.FOUND ? value : Values.MISSING;
      if (status == Status.FOUND) {
        fingerprints += Values.fingerprintIn(value);
      }
    }
  }

  private static final class OneAtATime implements BenchSession {
    private final Sums sums = new Sums();
    private final LongSession<Void> session;

    OneAtATime(FasterStore store) {
      session = store.newLongSession(sums, SessionMode.PENDING);
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

    @Override
    public void settle() {
      session.completePending(true);
    }

    @Override
    public long fingerprints() {
      return sums.fingerprints;
    }

    @Override
    public long get(long key) {
      Status status = session.read(key, null);
      if (status == Status.PENDING) {
        session.completePending(true);
        return sums.lastFound;
      }
      return status == Status.FOUND ? session.value() : Values.MISSING;
    }

    @Override
    public void put(long key, long value) {
      session.upsert(key, value, null);
    }

    @Override
    public void close() {
      session.close();
    }
  }
}
