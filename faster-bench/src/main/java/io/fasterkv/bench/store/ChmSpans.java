package io.fasterkv.bench.store;

import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Values;
import java.util.concurrent.ConcurrentHashMap;

/**
 * {@code ConcurrentHashMap<Long, byte[]>}. Values are never changed in place, since readers hold no
 * lock: an upsert and an RMW create a new array.
 */
final class ChmSpans implements BenchStore {
  private final ConcurrentHashMap<Long, byte[]> map;
  private final int valueBytes;

  ChmSpans(StoreSettings settings) {
    map = new ConcurrentHashMap<>(Math.toIntExact(settings.keys()));
    valueBytes = settings.valueBytes();
  }

  @Override
  public BenchSession newSession(int batch) {
    return new OneAtATime(map, valueBytes);
  }

  @Override
  public void close() {
    map.clear();
  }

  private static final class OneAtATime extends MapSession {
    private final ConcurrentHashMap<Long, byte[]> map;
    private final byte[] input;
    private final byte[] output;

    OneAtATime(ConcurrentHashMap<Long, byte[]> map, int valueBytes) {
      this.map = map;
      input = new byte[valueBytes];
      output = new byte[valueBytes];
    }

    private long readOne(long key) {
      byte[] value = map.get(key);
      if (value == null) {
        return 0;
      }
      System.arraycopy(value, 0, output, 0, value.length);
      return Values.fingerprintIn(SpanValues.number(output));
    }

    @Override
    long readAll(long[] keys, int from, int to) {
      long sum = 0;
      for (int i = from; i < to; i++) {
        sum += readOne(keys[i]);
      }
      return sum;
    }

    @Override
    void upsertAll(long[] keys, long[] values, int from, int to) {
      for (int i = from; i < to; i++) {
        put(keys[i], values[i]);
      }
    }

    @Override
    void rmwAll(long[] keys, int from, int to) {
      for (int i = from; i < to; i++) {
        map.computeIfPresent(keys[i], (key, value) -> addOne(value));
      }
    }

    private static byte[] addOne(byte[] value) {
      byte[] next = value.clone();
      SpanValues.setNumber(next, SpanValues.number(value) + 1);
      return next;
    }

    @Override
    long mixAll(long[] keys, long[] values, int from, int to) {
      long sum = 0;
      for (int i = from; i < to; i++) {
        long element = keys[i];
        if (KeyStream.isWrite(element)) {
          put(KeyStream.key(element), values[i]);
        } else {
          sum += readOne(element);
        }
      }
      return sum;
    }

    @Override
    public long get(long key) {
      byte[] value = map.get(key);
      return value == null ? Values.MISSING : SpanValues.number(value);
    }

    @Override
    public void put(long key, long value) {
      SpanValues.setNumber(input, value);
      map.put(key, input.clone());
    }
  }
}
