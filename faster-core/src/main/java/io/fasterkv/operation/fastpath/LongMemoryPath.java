package io.fasterkv.operation.fastpath;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.LongOutput;
import io.fasterkv.api.Status;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.index.IndexView;
import io.fasterkv.log.LogView;
import io.fasterkv.memory.WholeMemory;
import io.fasterkv.memory.Words;
import io.fasterkv.operation.version.SessionCounters;
import io.fasterkv.record.Address;
import io.fasterkv.record.LongHash;
import io.fasterkv.record.LongRecord;
import io.fasterkv.record.RecordInfo;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import org.jspecify.annotations.Nullable;

/**
 * The fast path in memory (SIGMOD'18, algorithms 2 to 4 for records that are updated in place). Not
 * used directly: {@link LongPaths} defines its class file again for each store, as a hidden class
 * whose static finals are that store's memory. The compiler then treats base addresses, sizes and
 * masks as constants.
 *
 * <p>A record is used only under the protection in which it was found, and only if it is the newest
 * record under its hash, has the key, and has no flag at all: it is not deleted, not replaced, not
 * a fork, and has no property that a later kind of record may add. During a version shift nothing
 * is found, since changes must then respect the versions of records. The marks are read after
 * protecting, once for each group: a record at or above a mark that was read then stays in memory,
 * or can be updated in place, until the epoch is left, however far the mark moves. An in-place
 * update of a record that another thread's upsert replaces at the same time counts as earlier than
 * that upsert, as on the slow path. An upsert that may not change a record continues with {@link
 * BlindAppend}.
 */
final class LongMemoryPath<C> extends LongPath {
  private static final StoreConstants CONSTANTS = StoreConstants.of(MethodHandles.lookup());
  private static final IndexView INDEX = CONSTANTS.index();
  private static final LogView LOG = CONSTANTS.log();
  private static final MemorySegment MEMORY = WholeMemory.or(LOG.memory());

  private static final long NOT_PLAIN = -1;

  /** No entry has all bits set. */
  private static final long NO_ENTRY = -1;

  private static final long FLAGS = ~(Address.MASK | RecordInfo.VERSION_MASK);

  /** Not a constant, which the compiler would load for each word of a record. */
  private final long base = WholeMemory.base(LOG.memory());

  private final LongFunctions<C> functions;
  private final @Nullable LongOutput outputs;
  private final EpochUser user;
  private final SessionCounters.Stripe counters;
  private final BlindAppend blind;
  private final long[] buckets = new long[GROUP];
  private final long[] addresses = new long[GROUP];

  /** Written but never read: keeps the compiler from removing the prefetch. */
  @SuppressWarnings("UnusedVariable")
  private long touched;

  LongMemoryPath(
      LongFunctions<C> functions,
      EpochUser user,
      SessionCounters.Stripe counters,
      BlindAppend blind) {
    this.counters = counters;
    this.blind = blind;
    this.functions = functions;
    outputs = functions instanceof LongOutput some ? some : null;
    this.user = user;
  }

  /** Does not protect, so it reads the table's own segment, which throws when it is closed. */
  @Override
  public void prefetch(long key) {
    if (!isStable()) {
      return;
    }
    try {
      // A store of what was loaded would hold up the stores after it.
      if (INDEX.loadUnprotected(LongHash.hash(key)) == NO_ENTRY) {
        touched = key;
      }
    } catch (IllegalStateException freed) {
      // The index was resized, or the store closed, meanwhile; there is nothing to load.
    }
  }

  @Override
  public boolean read(long key) {
    boolean isFound = false;
    user.protect();
    try {
      if (isStable()) {
        long limit = LOG.readableFrom();
        long address = newest(key);
        long record = place(address);
        if (difference(record, key) == 0 && address >= limit) {
          value = Words.loadAcquire(MEMORY, record + LongRecord.VALUE);
          counters.hit(1);
          // The first comparison is cheap, and is enough for most records.
          if (address < LOG.mutableFrom() && address < CONSTANTS.regions().copyBelow()) {
            counters.hitReadOnly(1);
          }
          isFound = true;
        }
      }
    } finally {
      user.unprotect();
    }
    return isFound;
  }

  @Override
  public @Nullable Status upsert(long key, long newValue) {
    Status status = null;
    user.protect();
    try {
      if (isStable()) {
        long limit = LOG.mutableFrom();
        long address = newest(key);
        long record = place(address);
        if (difference(record, key) == 0 && address >= limit) {
          Words.storeVolatile(MEMORY, record + LongRecord.VALUE, newValue);
          counters.hit(1);
          status = Status.UPDATED_IN_PLACE;
        } else if (blind.append(key, newValue)) {
          status = Status.COPIED;
        }
      }
    } catch (Throwable e) {
      blind.settlePublication();
      throw e;
    } finally {
      user.unprotect();
    }
    return status;
  }

  @Override
  public boolean rmw(long key, long input) {
    boolean isFound = false;
    user.protect();
    try {
      if (isStable()) {
        long limit = LOG.mutableFrom();
        long address = newest(key);
        long record = place(address);
        if (difference(record, key) == 0 && address >= limit) {
          value = update(key, input, record);
          counters.hit(1);
          isFound = true;
        }
      }
    } finally {
      user.unprotect();
    }
    return isFound;
  }

  @Override
  public int read(long[] keys, long[] values, Status[] statuses, int from, int count) {
    user.protect();
    try {
      if (!isStable()) {
        return 0;
      }
      locate(keys, from, count, LOG.readableFrom());
      long copyBelow = CONSTANTS.regions().copyBelow();
      int done = 0;
      int readOnly = 0;
      while (done < count && isPlain(addresses[done], keys[from + done])) {
        long address = addresses[done];
        values[from + done] = Words.loadAcquire(MEMORY, place(address) + LongRecord.VALUE);
        note(statuses, from + done, Status.FOUND);
        readOnly += address < copyBelow ? 1 : 0;
        done++;
      }
      counters.hit(done);
      counters.hitReadOnly(readOnly);
      return done;
    } finally {
      user.unprotect();
    }
  }

  @Override
  public int upsert(long[] keys, long[] values, Status[] statuses, int from, int count) {
    int done = 0;
    int appended = 0;
    user.protect();
    try {
      if (!isStable()) {
        return 0;
      }
      locate(keys, from, count, LOG.mutableFrom());
      for (; done < count; done++) {
        long key = keys[from + done];
        long newValue = values[from + done];
        long address = addresses[done];
        if (isPlain(address, key)) {
          Words.storeRelease(MEMORY, place(address) + LongRecord.VALUE, newValue);
          note(statuses, from + done, Status.UPDATED_IN_PLACE);
        } else if (blind.append(key, newValue)) {
          note(statuses, from + done, Status.COPIED);
          appended++;
        } else {
          return done;
        }
      }
      return done;
    } catch (Throwable e) {
      blind.settlePublication();
      throw e;
    } finally {
      try {
        // Count what was done even if the log took no more.
        counters.hit(done - appended);
        // One fence makes the whole group visible when the call returns.
        Words.fullFence();
      } finally {
        user.unprotect();
      }
    }
  }

  @Override
  public int rmw(
      long[] keys,
      long[] inputs,
      long @Nullable [] outputsTo,
      Status[] statuses,
      int from,
      int count) {
    int done = 0;
    user.protect();
    try {
      if (!isStable()) {
        return 0;
      }
      locate(keys, from, count, LOG.mutableFrom());
      for (; done < count; done++) {
        long key = keys[from + done];
        long address = addresses[done];
        if (!isPlain(address, key)) {
          return done;
        }
        long output = update(key, inputs[from + done], place(address));
        if (outputsTo != null) {
          outputsTo[from + done] = output;
        }
        note(statuses, from + done, Status.UPDATED_IN_PLACE);
      }
      return done;
    } finally {
      try {
        // Count what was done even if the user's function has thrown at the next key.
        counters.hit(done);
      } finally {
        user.unprotect();
      }
    }
  }

  private static boolean isStable() {
    return CONSTANTS.areCurrent();
  }

  /**
   * Stores in {@link #addresses} where the newest record under each key's hash is. The two
   * prefetching loops do nothing else: the fewer instructions between two cache misses, the more
   * misses the processor overlaps.
   */
  private void locate(long[] keys, int from, int count, long limit) {
    long[] at = buckets;
    long[] found = addresses;
    for (int i = 0; i < count; i++) {
      long hash = LongHash.hash(keys[from + i]);
      found[i] = hash;
      at[i] = INDEX.bucket(hash);
    }
    long sum = 0;
    for (int i = 0; i < count; i++) {
      sum += INDEX.prefetch(at[i]);
    }
    for (int i = 0; i < count; i++) {
      long address = INDEX.address(at[i], found[i]);
      long record = place(address);
      at[i] = record;
      found[i] = address >= limit ? address : NOT_PLAIN;
    }
    for (int i = 0; i < count; i++) {
      // Any place in the log's memory may be read; what is not a record now is not used.
      sum += Words.loadPlain(MEMORY, at[i]) + Words.loadPlain(MEMORY, at[i] + LongRecord.VALUE);
    }
    touched = sum;
  }

  /**
   * The newest address under the key's hash; 0 if it was not found at once. The caller decides only
   * after it has compared the record: a branch before that would be compiled for what was common
   * while the store was being filled, when no key is found. Any place in the log's memory may be
   * read.
   */
  private static long newest(long key) {
    long hash = LongHash.hash(key);
    return INDEX.address(INDEX.bucket(hash), hash);
  }

  /** Where the word at an address is; any value gives some place within the log's memory. */
  private long place(long address) {
    return base + LOG.offset(address) & WholeMemory.PLACES;
  }

  /** Whether the record at {@code address} has the key and no flag. */
  private boolean isPlain(long address, long key) {
    return address != NOT_PLAIN && difference(place(address), key) == 0;
  }

  /**
   * 0 if a record has the key and no flag. The loads are plain: flags of an ordinary record are
   * only added (the only latch that is released is a delta's, which always has a flag), so if none
   * is seen there was none at any earlier time, and later stores are not moved before these loads.
   */
  private static long difference(long record, long key) {
    long flags = (Words.loadPlain(MEMORY, record) & FLAGS) ^ RecordInfo.PRESENT;
    return flags | (Words.loadPlain(MEMORY, record + LongRecord.KEY) ^ key);
  }

  @Override
  public boolean isCurrent() {
    return isStable();
  }

  /** Returns what the RMW returns. */
  private long update(long key, long input, long record) {
    long at = record + LongRecord.VALUE;
    long old;
    long updated;
    long output;
    do {
      old = Words.loadAcquire(MEMORY, at);
      updated = functions.updater(key, input, old);
      // Before the update takes effect: the user's function may throw.
      output = outputs == null ? updated : outputs.output(key, input, old, updated);
    } while (!Words.compareAndSet(MEMORY, at, old, updated));
    return output;
  }

  /** Most operations have the same status: storing only changes avoids the collector's barrier. */
  private static void note(Status[] statuses, int at, Status status) {
    if (statuses[at] != status) {
      statuses[at] = status;
    }
  }
}
