package io.fasterkv.bench.store;

import io.fasterkv.FasterStore;
import io.fasterkv.Session;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreFunctions;
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
    return new OneAtATime(store, valueBytes);
  }

  @Override
  public void close() {
    store.close();
  }

  /** Reads copy the value out, an RMW adds 1 to its first word. */
  private static final class Counts implements StoreFunctions<Void, byte[], Void> {
    private final int valueBytes;
    long fingerprints;
    long lastFound = Values.MISSING;

    Counts(int valueBytes) {
      this.valueBytes = valueBytes;
    }

    @Override
    public void singleReader(ByteSpan key, Void input, ByteSpan value, byte[] output) {
      value.copyTo(0, output, 0, value.length());
    }

    @Override
    public int initialBytes(ByteSpan key, Void input) {
      return valueBytes;
    }

    @Override
    public void initialUpdater(ByteSpan key, Void input, ByteSpan value) {
      value.putLong(0, 1);
      value.setLength(valueBytes);
    }

    @Override
    public boolean inPlaceUpdater(ByteSpan key, Void input, ByteSpan value) {
      value.putLong(0, value.getLong(0) + 1);
      return true;
    }

    @Override
    public int copyBytes(ByteSpan key, Void input, ByteSpan oldValue) {
      return oldValue.length();
    }

    @Override
    public void copyUpdater(ByteSpan key, Void input, ByteSpan oldValue, ByteSpan newValue) {
      newValue.setTo(oldValue);
      newValue.putLong(0, oldValue.getLong(0) + 1);
    }

    @Override
    public void completionCallback(Status status, Void input, byte[] output, Void context) {
      lastFound = status == Status.FOUND ? SpanValues.number(output) : Values.MISSING;
      if (status == Status.FOUND) {
        fingerprints += Values.fingerprintIn(lastFound);
      }
    }
  }

  private static final class OneAtATime implements BenchSession {
    /** A pending read keeps its output until it ends. */
    private final byte[] output;

    private final byte[] keyBytes = new byte[Long.BYTES];
    private final ByteSpan key = ByteSpan.of(keyBytes);
    private final ByteSpan value;
    private final Counts counts;
    private final Session<Void, byte[], Void> session;

    OneAtATime(FasterStore store, int valueBytes) {
      output = new byte[valueBytes];
      value = ByteSpan.of(new byte[valueBytes]);
      counts = new Counts(valueBytes);
      session = store.newSession(counts, SessionMode.BLOCKING);
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

    @Override
    public long fingerprints() {
      return counts.fingerprints;
    }

    @Override
    public long get(long number) {
      key.putLong(0, number);
      return session.read(key, null, output, null) == Status.FOUND
          ? SpanValues.number(output)
          : Values.MISSING;
    }

    @Override
    public void put(long number, long count) {
      key.putLong(0, number);
      value.putLong(0, count);
      session.upsert(key, value, null);
    }

    @Override
    public void close() {
      session.close();
    }
  }
}
