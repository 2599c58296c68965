package io.fasterkv.bench.store;

import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Values;
import org.agrona.collections.Long2ObjectHashMap;

/** Agrona's {@code Long2ObjectHashMap<byte[]>} behind lock stripes; values change in place. */
final class AgronaSpans implements BenchStore {
  private final Stripe[] stripes;
  private final int valueBytes;

  AgronaSpans(StoreSettings settings) {
    valueBytes = settings.valueBytes();
    stripes = Stripes.make(settings.keys(), Stripe::new).toArray(Stripe[]::new);
  }

  private static final class Stripe {
    final Long2ObjectHashMap<byte[]> map;

    Stripe(int capacity) {
      map = new Long2ObjectHashMap<>(capacity, Stripes.LOAD_FACTOR, false);
    }
  }

  @Override
  public BenchSession newSession(int batch) {
    return new OneAtATime(stripes, valueBytes);
  }

  @Override
  public void close() {
    for (Stripe stripe : stripes) {
      synchronized (stripe) {
        stripe.map.clear();
      }
    }
  }

  private static final class OneAtATime extends MapSession {
    private final Stripe[] stripes;
    private final byte[] input;
    private final byte[] output;

    OneAtATime(Stripe[] stripes, int valueBytes) {
      this.stripes = stripes;
      input = new byte[valueBytes];
      output = new byte[valueBytes];
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
        Stripe stripe = stripes[Stripes.of(key)];
        synchronized (stripe) {
          byte[] value = stripe.map.get(key);
          SpanValues.setNumber(value, SpanValues.number(value) + 1);
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
      Stripe stripe = stripes[Stripes.of(key)];
      synchronized (stripe) {
        byte[] value = stripe.map.get(key);
        if (value == null) {
          return Values.MISSING;
        }
        System.arraycopy(value, 0, output, 0, value.length);
      }
      return SpanValues.number(output);
    }

    @Override
    public void put(long key, long value) {
      SpanValues.setNumber(input, value);
      Stripe stripe = stripes[Stripes.of(key)];
      synchronized (stripe) {
        byte[] old = stripe.map.get(key);
        if (old == null) {
          stripe.map.put(key, input.clone());
        } else {
          System.arraycopy(input, 0, old, 0, input.length);
        }
      }
    }
  }
}
