package io.fasterkv.bench.cpr.experiment;

import io.fasterkv.FasterStore;
import io.fasterkv.LongSession;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.bench.workload.Parallel;
import io.fasterkv.bench.workload.Values;
import java.nio.file.Path;
import java.util.concurrent.Callable;

/**
 * The store on a disk with more memory than the run needs, so that reads never go to the disk
 * (FASTER's CPR, section 7.1).
 */
public final class CprStore {
  private static final long RECORD_BYTES = 24;

  /** Fold-over copies what changes after each checkpoint. */
  private static final int COPIES = 8;

  private static final int PAGE_BYTES = 1 << 20;
  private static final long LEAST_LOG_BYTES = 64L << 20;
  private static final long LEAST_INDEX_BYTES = 64L << 10;
  private static final long SCRATCH_BYTES = 32L << 20;
  private static final long ROOM_BYTES = 16L << 20;
  private static final int BUCKET_BYTES = 64;
  private static final int KEYS_TO_A_BUCKET = 2;
  private static final int MORE_SESSIONS = 8;
  private static final int BATCH = 256;

  private CprStore() {}

  /** The settings of a store for the plan. */
  public static StoreConfigBuilder config(CprPlan plan, Path directory) {
    long log = LEAST_LOG_BYTES;
    while (log < COPIES * plan.keys() * RECORD_BYTES) {
      log *= 2;
    }
    long index = indexBytes(plan);
    return StoreConfig.builder(directory)
        .recordKind(RecordKind.LONGS)
        .memoryBytes(index + log + SCRATCH_BYTES + ROOM_BYTES)
        .indexBytes(index)
        .logMemoryBytes(log)
        .pageBytes(PAGE_BYTES)
        .scratchBytes(SCRATCH_BYTES)
        .maxSessions(2 * plan.threads() + MORE_SESSIONS)
        .directIo(true)
        .preallocate(true);
  }

  private static long indexBytes(CprPlan plan) {
    return Math.max(LEAST_INDEX_BYTES, plan.keys() / KEYS_TO_A_BUCKET * BUCKET_BYTES);
  }

  /** Size of a loaded store's log and index on disk. */
  public static long dataBytes(CprPlan plan) {
    return plan.keys() * RECORD_BYTES + indexBytes(plan);
  }

  /** An open store with all keys. */
  public static FasterStore loaded(CprPlan plan, StoreConfig config) {
    FasterStore store = FasterStore.open(config);
    try {
      write(plan, store, 0);
      return store;
    } catch (RuntimeException | Error e) {
      store.close();
      throw e;
    }
  }

  /** Sets the same count for all keys. */
  public static void write(CprPlan plan, FasterStore store, long count) {
    Parallel.run(
        plan.threads(),
        thread ->
            (Callable<Void>)
                () -> {
                  long from = plan.keys() * thread / plan.threads();
                  long until = plan.keys() * (thread + 1) / plan.threads();
                  write(store, from, until, count);
                  return null;
                });
  }

  private static void write(FasterStore store, long from, long until, long count) {
    long[] keys = new long[BATCH];
    long[] values = new long[BATCH];
    Status[] statuses = new Status[BATCH];
    try (LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (long key = from; key < until; key += BATCH) {
        int length = (int) Math.min(BATCH, until - key);
        for (int i = 0; i < length; i++) {
          keys[i] = key + i;
          values[i] = Values.of(key + i, count);
        }
        session.upsert(keys, values, statuses, 0, length, null);
      }
    }
  }
}
