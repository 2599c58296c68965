package io.fasterkv.bench.ycsb;

import io.fasterkv.bench.store.BenchSession;
import io.fasterkv.bench.store.BenchStore;
import io.fasterkv.bench.workload.Mix;
import io.fasterkv.bench.workload.Parallel;
import io.fasterkv.bench.workload.Values;
import io.fasterkv.bench.workload.Workload;
import io.fasterkv.bench.workload.WrongAnswer;
import java.util.concurrent.Callable;

/**
 * A store with all its keys, and what is known about its values: each one identifies its key, and
 * while only RMWs change them, the sum of their counts is the number of acknowledged operations.
 *
 * <p>Upserts make the sum unknown. Before upserts the results of RMWs are checked; before the next
 * RMW, the sum is computed again.
 */
final class LoadedStore implements AutoCloseable {
  /** For a store larger than memory, only this many keys are checked. */
  private static final long SAMPLE = 100_000;

  private final String name;
  private final BenchStore store;
  private final long keys;
  private final int threads;
  private final boolean isSampled;

  private boolean isSumKnown = true;
  private long expectedSum;
  private boolean isChecked = true;

  LoadedStore(String name, BenchStore store, long keys, int threads, boolean isSampled) {
    this.name = name;
    this.store = store;
    this.keys = keys;
    this.threads = threads;
    this.isSampled = isSampled;
  }

  BenchStore store() {
    return store;
  }

  /** Writes every key and reads them all again. */
  void load() {
    Parallel.run(
        threads,
        thread ->
            (Callable<Void>)
                () -> {
                  try (BenchSession session = store.newSession(1)) {
                    for (long key = part(thread); key < part(thread + 1); key++) {
                      session.put(key, Values.of(key, 0));
                    }
                  }
                  return null;
                });
    check();
  }

  /** Prepares for a workload. */
  void before(Workload workload) {
    if (workload.overwrites() && isSumKnown && !isChecked) {
      check();
    }
    if (workload.kind() == Workload.Kind.RMW && !isSumKnown && !isSampled) {
      expectedSum = sum();
      isSumKnown = true;
    }
  }

  /** Notes the effects of a workload. */
  void after(Workload workload, long operations) {
    if (workload.overwrites()) {
      isSumKnown = false;
      isChecked = false;
    } else if (workload.kind() == Workload.Kind.RMW) {
      expectedSum += operations;
      isChecked = false;
    }
  }

  /** Reads the keys and compares them with what is known. */
  void check() {
    long sum = sum();
    if (isSumKnown && !isSampled && sum != expectedSum) {
      throw new WrongAnswer(
          "updates were lost or made twice: store="
              + name
              + ", sum of counts="
              + sum
              + ", allowed="
              + expectedSum
              + ", the number of acknowledged operations");
    }
    isChecked = true;
  }

  private long sum() {
    return Parallel.run(threads, thread -> (Callable<Long>) () -> sum(thread)).stream()
        .mapToLong(Long::longValue)
        .sum();
  }

  private long sum(int thread) {
    long sum = 0;
    try (BenchSession session = store.newSession(1)) {
      if (isSampled) {
        for (long i = thread; i < Math.min(SAMPLE, keys); i += threads) {
          sum += count(session, Math.floorMod(Mix.mix(i), keys));
        }
        return sum;
      }
      for (long key = part(thread); key < part(thread + 1); key++) {
        sum += count(session, key);
      }
    }
    return sum;
  }

  private long count(BenchSession session, long key) {
    long value = session.get(key);
    if (value == Values.MISSING || Values.fingerprintIn(value) != Values.fingerprint(key)) {
      throw new WrongAnswer(
          "a key has a wrong value: store="
              + name
              + ", key="
              + key
              + ", value="
              + (value == Values.MISSING ? "missing" : Long.toHexString(value))
              + ", allowed="
              + Long.toHexString(Values.fingerprint(key))
              + " and 8 digits of count");
    }
    return Values.countIn(value);
  }

  private long part(int thread) {
    return keys * thread / threads;
  }

  @Override
  public void close() {
    store.close();
  }
}
