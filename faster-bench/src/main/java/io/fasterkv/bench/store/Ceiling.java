package io.fasterkv.bench.store;

import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Mix;
import io.fasterkv.bench.workload.Values;

/**
 * Makes the two dependent memory accesses of the store, a bucket and then a record, on plain arrays
 * as large as the store's index and log, without concurrency, epochs or regions. It is the upper
 * bound for batches of a store in Java.
 *
 * <pre>
 *   buckets:  8 words each: 7 entries of 16 bits of tag and 48 of record number, 1 word unused
 *   records:  3 words each: unused, key, value
 * </pre>
 *
 * A full bucket spills into the next one.
 */
final class Ceiling implements BenchStore {
  private static final int BUCKET_WORDS = 8;
  private static final int ENTRIES = 7;
  private static final int RECORD_WORDS = 3;
  private static final int KEY = 1;
  private static final int VALUE = 2;
  private static final long NO_KEY = -1;
  private static final int TAG_SHIFT = 48;
  private static final long RECORD_MASK = (1L << TAG_SHIFT) - 1;

  private final long[] buckets;
  private final long[] records;
  private final int bucketCount;
  private int used;

  Ceiling(StoreSettings settings) {
    bucketCount = Math.toIntExact(settings.indexBytesOrDefault() / BUCKET_WORDS / Long.BYTES);
    buckets = new long[Math.multiplyExact(bucketCount, BUCKET_WORDS)];
    // Record 0 has no key, so that no entry is 0.
    records = new long[Math.toIntExact(RECORD_WORDS * (settings.keys() + 1))];
    records[KEY] = NO_KEY;
  }

  @Override
  public BenchSession newSession(int batch) {
    return new Batched(this, batch);
  }

  @Override
  public void close() {
    // The arrays are freed with the object.
  }

  private int bucket(long hash) {
    return (int) Math.unsignedMultiplyHigh(hash, bucketCount) * BUCKET_WORDS;
  }

  /** The word of the record with a key, or 0. */
  private int find(long key, long hash, int first) {
    int bucket = first;
    while (true) {
      for (int at = bucket; at < bucket + ENTRIES; at++) {
        long entry = buckets[at];
        if (entry >>> TAG_SHIFT == (hash & 0xFFFF) && entry != 0) {
          int record = (int) (entry & RECORD_MASK) * RECORD_WORDS;
          if (records[record + KEY] == key) {
            return record;
          }
        } else if (entry == 0) {
          return 0;
        }
      }
      bucket = (bucket + BUCKET_WORDS) % buckets.length;
    }
  }

  private synchronized void insert(long key, long hash, long value) {
    int record = ++used * RECORD_WORDS;
    records[record + KEY] = key;
    records[record + VALUE] = value;
    int bucket = bucket(hash);
    while (true) {
      for (int at = bucket; at < bucket + ENTRIES; at++) {
        if (buckets[at] == 0) {
          buckets[at] = (hash & 0xFFFF) << TAG_SHIFT | used;
          return;
        }
      }
      bucket = (bucket + BUCKET_WORDS) % buckets.length;
    }
  }

  private static final class Batched extends MapSession {
    private final Ceiling store;
    private final long[] buckets;
    private final long[] records;
    private final int batch;
    private final long[] hashes;
    private final int[] at;

    /** Keeps the compiler from removing the prefetch. */
    private long touched;

    Batched(Ceiling store, int batch) {
      this.store = store;
      this.batch = batch;
      buckets = store.buckets;
      records = store.records;
      hashes = new long[batch];
      at = new int[batch];
    }

    /** Prefetches all buckets, then all records; stores the records' places in {@link #at}. */
    private void locate(long[] keys, int from, int count) {
      long sum = 0;
      for (int i = 0; i < count; i++) {
        long hash = Mix.mix(KeyStream.key(keys[from + i]));
        hashes[i] = hash;
        at[i] = store.bucket(hash);
        sum += buckets[at[i]];
      }
      for (int i = 0; i < count; i++) {
        at[i] = candidate(hashes[i], at[i]);
        sum += records[at[i] + KEY];
      }
      touched += sum;
      for (int i = 0; i < count; i++) {
        long key = KeyStream.key(keys[from + i]);
        if (records[at[i] + KEY] != key) {
          at[i] = store.find(key, hashes[i], store.bucket(hashes[i]));
        }
      }
    }

    /** The first record of the bucket with the right tag, or record 0. */
    private int candidate(long hash, int bucket) {
      long tag = hash & 0xFFFF;
      for (int entry = bucket; entry < bucket + ENTRIES; entry++) {
        long word = buckets[entry];
        if (word >>> TAG_SHIFT == tag) {
          return (int) (word & RECORD_MASK) * RECORD_WORDS;
        }
      }
      return 0;
    }

    @Override
    long readAll(long[] keys, int from, int to) {
      long sum = 0;
      for (int start = from; start < to; start += batch) {
        int count = Math.min(batch, to - start);
        locate(keys, start, count);
        for (int i = 0; i < count; i++) {
          sum += Values.fingerprintIn(records[at[i] + VALUE]);
        }
      }
      return sum;
    }

    @Override
    void upsertAll(long[] keys, long[] values, int from, int to) {
      for (int start = from; start < to; start += batch) {
        int count = Math.min(batch, to - start);
        locate(keys, start, count);
        for (int i = 0; i < count; i++) {
          records[at[i] + VALUE] = values[start + i];
        }
      }
    }

    @Override
    void rmwAll(long[] keys, int from, int to) {
      for (int start = from; start < to; start += batch) {
        int count = Math.min(batch, to - start);
        locate(keys, start, count);
        for (int i = 0; i < count; i++) {
          records[at[i] + VALUE]++;
        }
      }
    }

    @Override
    long mixAll(long[] keys, long[] values, int from, int to) {
      long sum = 0;
      for (int start = from; start < to; start += batch) {
        int count = Math.min(batch, to - start);
        locate(keys, start, count);
        for (int i = 0; i < count; i++) {
          if (KeyStream.isWrite(keys[start + i])) {
            records[at[i] + VALUE] = values[start + i];
          } else {
            sum += Values.fingerprintIn(records[at[i] + VALUE]);
          }
        }
      }
      return sum;
    }

    @Override
    public long get(long key) {
      long hash = Mix.mix(key);
      int record = store.find(key, hash, store.bucket(hash));
      return record == 0 ? Values.MISSING : records[record + VALUE];
    }

    @Override
    public void put(long key, long value) {
      long hash = Mix.mix(key);
      int record = store.find(key, hash, store.bucket(hash));
      if (record == 0) {
        store.insert(key, hash, value);
      } else {
        records[record + VALUE] = value;
      }
    }

    /** The result of prefetching; only here to be used. */
    @Override
    public String toString() {
      return "Batched[touched=" + touched + "]";
    }
  }
}
