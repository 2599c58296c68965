package io.fasterkv.bench.store;

import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Values;
import org.agrona.collections.Long2LongHashMap;

/** Agrona's {@code Long2LongHashMap} behind lock stripes. */
final class AgronaLongs implements BenchStore {
  private final Long2LongHashMap[] maps;

  AgronaLongs(StoreSettings settings) {
    maps =
        Stripes.make(
                settings.keys(),
                capacity ->
                    new Long2LongHashMap(capacity, Stripes.LOAD_FACTOR, Values.MISSING, false))
            .toArray(Long2LongHashMap[]::new);
  }

  @Override
  public BenchSession newSession(int batch) {
    return new OneAtATime(maps);
  }

  @Override
  public void close() {
    for (Long2LongHashMap map : maps) {
      synchronized (map) {
        map.clear();
      }
    }
  }

  private static final class OneAtATime extends MapSession {
    private final Long2LongHashMap[] maps;

    OneAtATime(Long2LongHashMap[] maps) {
      this.maps = maps;
    }

    @Override
    long readAll(long[] keys, int from, int to) {
      long sum = 0;
      for (int i = from; i < to; i++) {
        sum += Values.fingerprintIn(get(keys[i]));
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
        long key = keys[i];
        Long2LongHashMap map = maps[Stripes.of(key)];
        synchronized (map) {
          map.merge(key, 1, Long::sum);
        }
      }
    }

    @Override
    long mixAll(long[] keys, long[] values, int from, int to) {
      long sum = 0;
      for (int i = from; i < to; i++) {
        long element = keys[i];
        if (KeyStream.isWrite(element)) {
          put(KeyStream.key(element), values[i]);
        } else {
          sum += Values.fingerprintIn(get(element));
        }
      }
      return sum;
    }

    @Override
    public long get(long key) {
      Long2LongHashMap map = maps[Stripes.of(key)];
      synchronized (map) {
        return map.get(key);
      }
    }

    @Override
    public void put(long key, long value) {
      Long2LongHashMap map = maps[Stripes.of(key)];
      synchronized (map) {
        map.put(key, value);
      }
    }
  }
}
