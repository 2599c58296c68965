package io.fasterkv.bench.store;

import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Values;
import java.util.concurrent.ConcurrentHashMap;

/** {@code ConcurrentHashMap<Long, Long>}; an RMW is a merge. */
final class ChmLongs implements BenchStore {
  private final ConcurrentHashMap<Long, Long> map;

  ChmLongs(StoreSettings settings) {
    map = new ConcurrentHashMap<>(Math.toIntExact(settings.keys()));
  }

  @Override
  public BenchSession newSession(int batch) {
    return new OneAtATime(map);
  }

  @Override
  public void close() {
    map.clear();
  }

  private static final class OneAtATime extends MapSession {
    private final ConcurrentHashMap<Long, Long> map;

    OneAtATime(ConcurrentHashMap<Long, Long> map) {
      this.map = map;
    }

    @Override
    long readAll(long[] keys, int from, int to) {
      long sum = 0;
      for (int i = from; i < to; i++) {
        Long value = map.get(keys[i]);
        sum += value == null ? 0 : Values.fingerprintIn(value);
      }
      return sum;
    }

    @Override
    void upsertAll(long[] keys, long[] values, int from, int to) {
      for (int i = from; i < to; i++) {
        map.put(keys[i], values[i]);
      }
    }

    @Override
    void rmwAll(long[] keys, int from, int to) {
      for (int i = from; i < to; i++) {
        map.merge(keys[i], 1L, Long::sum);
      }
    }

    @Override
    long mixAll(long[] keys, long[] values, int from, int to) {
      long sum = 0;
      for (int i = from; i < to; i++) {
        long element = keys[i];
        if (KeyStream.isWrite(element)) {
          map.put(KeyStream.key(element), values[i]);
        } else {
          Long value = map.get(element);
          sum += value == null ? 0 : Values.fingerprintIn(value);
        }
      }
      return sum;
    }

    @Override
    public long get(long key) {
      return map.getOrDefault(key, Values.MISSING);
    }

    @Override
    public void put(long key, long value) {
      map.put(key, value);
    }
  }
}
