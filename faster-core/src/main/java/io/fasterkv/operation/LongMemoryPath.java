package io.fasterkv.operation;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.index.IndexView;
import io.fasterkv.log.LogView;
import io.fasterkv.memory.Words;
import io.fasterkv.record.Address;
import io.fasterkv.record.LongRecord;
import io.fasterkv.record.RecordInfo;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import org.jspecify.annotations.Nullable;

/**
 * The short way in memory (SIGMOD'18, algorithms 2 to 4 for records that are updated where they
 * lie). Never used as it is: {@link LongPaths} defines its class file again for each store, as a
 * hidden class whose static finals are that store's memory. The compiler then knows base addresses,
 * sizes and masks as numbers.
 *
 * <p>What is found is used only under the protection in which it was found, and only if it is the
 * newest record under its hash, has the key, and has no flag whatever: not deleted, not replaced,
 * not a fork, nothing that a later kind of record may add. While the store goes from one version to
 * the next, nothing is found: who changes records then has to mind their versions. The marks are
 * read after protecting, and once for a group: a record at or above a mark that was read then stays
 * in memory, or stays updatable in place, until the epoch is left, however far the mark moves on.
 * An update in place of a record that another thread's upsert replaces at the same time counts as
 * before that upsert, as in the general way. An upsert that may not change a record goes on by
 * {@link BlindAppend}.
 */
final class LongMemoryPath<C> extends LongPath {
  private static final StoreConstants CONSTANTS = StoreConstants.of(MethodHandles.lookup());
  private static final IndexView INDEX = CONSTANTS.index();
  private static final LogView LOG = CONSTANTS.log();
  private static final MemorySegment MEMORY = LOG.memory();

  private static final long NOT_EASY = -1;
  private static final long FLAGS = ~(Address.MASK | RecordInfo.VERSION_MASK);

  private final LongFunctions<C> functions;
  private final EpochUser user;
  private final ChainSteps.Stripe steps;
  private final BlindAppend blind;
  private final long[] buckets = new long[GROUP];
  private final long[] addresses = new long[GROUP];

  /** Written and never read, so that the compiler does not leave the touching out. */
  @SuppressWarnings("UnusedVariable")
  private long touched;

  LongMemoryPath(
      LongFunctions<C> functions, EpochUser user, ChainSteps.Stripe steps, BlindAppend blind) {
    this.steps = steps;
    this.blind = blind;
    this.functions = functions;
    this.user = user;
  }

  @Override
  boolean read(long key) {
    user.protect();
    try {
      long address = isStable() ? find(key, LOG.readableFrom()) : NOT_EASY;
      if (address == NOT_EASY) {
        return false;
      }
      value = Words.loadAcquire(MEMORY, LOG.offset(address) + LongRecord.VALUE);
      steps.hit(1);
      if (address < CONSTANTS.regions().copyBelow()) {
        steps.hitReadOnly(1);
      }
      return true;
    } finally {
      user.unprotect();
    }
  }

  @Override
  @Nullable Status upsert(long key, long newValue) {
    user.protect();
    try {
      if (!isStable()) {
        return null;
      }
      long address = find(key, LOG.mutableFrom());
      if (address == NOT_EASY) {
        return blind.append(key, newValue) ? Status.COPIED : null;
      }
      Words.storeVolatile(MEMORY, LOG.offset(address) + LongRecord.VALUE, newValue);
      steps.hit(1);
      return Status.UPDATED_IN_PLACE;
    } finally {
      user.unprotect();
    }
  }

  @Override
  boolean rmw(long key, long input) {
    user.protect();
    try {
      long address = isStable() ? find(key, LOG.mutableFrom()) : NOT_EASY;
      if (address == NOT_EASY) {
        return false;
      }
      update(key, input, LOG.offset(address));
      steps.hit(1);
      return true;
    } finally {
      user.unprotect();
    }
  }

  @Override
  int read(long[] keys, long[] values, Status[] statuses, int from, int count) {
    user.protect();
    try {
      if (!isStable()) {
        return 0;
      }
      locate(keys, from, count, LOG.readableFrom());
      long copyBelow = CONSTANTS.regions().copyBelow();
      int done = 0;
      int readOnly = 0;
      while (done < count && isEasy(addresses[done], keys[from + done])) {
        long address = addresses[done];
        values[from + done] = Words.loadAcquire(MEMORY, LOG.offset(address) + LongRecord.VALUE);
        note(statuses, from + done, Status.FOUND);
        readOnly += address < copyBelow ? 1 : 0;
        done++;
      }
      steps.hit(done);
      steps.hitReadOnly(readOnly);
      return done;
    } finally {
      user.unprotect();
    }
  }

  @Override
  int upsert(long[] keys, long[] values, Status[] statuses, int from, int count) {
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
        if (isEasy(address, key)) {
          Words.storeRelease(MEMORY, LOG.offset(address) + LongRecord.VALUE, newValue);
          note(statuses, from + done, Status.UPDATED_IN_PLACE);
        } else if (blind.append(key, newValue)) {
          note(statuses, from + done, Status.COPIED);
          appended++;
        } else {
          return done;
        }
      }
      return done;
    } finally {
      // What was done counts, also if the log took no more.
      steps.hit(done - appended);
      // All of the group is visible when the call returns, for the price of one fence.
      Words.fullFence();
      user.unprotect();
    }
  }

  @Override
  int rmw(long[] keys, long[] inputs, Status[] statuses, int from, int count) {
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
        if (!isEasy(address, key)) {
          return done;
        }
        update(key, inputs[from + done], LOG.offset(address));
        note(statuses, from + done, Status.UPDATED_IN_PLACE);
      }
      return done;
    } finally {
      // What was done counts, also if the user's function has thrown at the next key.
      steps.hit(done);
      user.unprotect();
    }
  }

  private static boolean isStable() {
    return CONSTANTS.areCurrent();
  }

  /**
   * Leaves in {@link #addresses} where the newest record under each key's hash lies. The two loops
   * that touch do nothing else: the fewer instructions between two cache misses, the more of them
   * the processor has under way.
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
      sum += INDEX.touch(at[i]);
    }
    for (int i = 0; i < count; i++) {
      long address = INDEX.address(at[i], found[i]);
      long record = LOG.offset(address);
      at[i] = record;
      found[i] = address >= limit ? address : NOT_EASY;
    }
    for (int i = 0; i < count; i++) {
      // Anything may be read of the log's memory; what is not a record now is not used.
      sum += Words.loadPlain(MEMORY, at[i]) + Words.loadPlain(MEMORY, at[i] + LongRecord.VALUE);
    }
    touched = sum;
  }

  /**
   * The address of the key's record. Decides once, at the end: a branch on the way would be
   * compiled for what was common while the store was being filled, when no key is found. Anything
   * may be read of the log's memory.
   */
  private static long find(long key, long limit) {
    long hash = LongHash.hash(key);
    long address = INDEX.address(INDEX.bucket(hash), hash);
    long record = LOG.offset(address);
    return difference(record, key) == 0 && address >= limit ? address : NOT_EASY;
  }

  /** Whether the record there is the key's, and nothing is special about it. */
  private static boolean isEasy(long address, long key) {
    return address != NOT_EASY && difference(LOG.offset(address), key) == 0;
  }

  /**
   * 0 if a record has the key and no flag. Plain, for an ordinary record's flags are only ever
   * added (the latch that is given back is a delta's, which is flagged for good): that there was
   * none is true of all moments before, and what is stored later is not moved up.
   */
  private static long difference(long record, long key) {
    long flags = (Words.loadPlain(MEMORY, record) & FLAGS) ^ RecordInfo.PRESENT;
    return flags | (Words.loadPlain(MEMORY, record + LongRecord.KEY) ^ key);
  }

  @Override
  boolean isCurrent() {
    return isStable();
  }

  private void update(long key, long input, long record) {
    long at = record + LongRecord.VALUE;
    long old;
    do {
      old = Words.loadAcquire(MEMORY, at);
    } while (!Words.compareAndSet(MEMORY, at, old, functions.updater(key, input, old)));
  }

  /** Most operations end alike: storing only what changes spares the collector's barrier. */
  private static void note(Status[] statuses, int at, Status status) {
    if (statuses[at] != status) {
      statuses[at] = status;
    }
  }
}
