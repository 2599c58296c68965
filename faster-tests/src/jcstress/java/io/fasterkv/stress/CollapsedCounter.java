package io.fasterkv.stress;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.MergeableLongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.index.IndexEntry;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.operation.move.RecordMover;
import io.fasterkv.record.KeyBytes;
import java.lang.foreign.MemorySegment;

/**
 * A counter that consists of a value and a mutable delta above it. One actor updates the delta in
 * place while the other, like compaction, replaces both by one record.
 */
final class CollapsedCounter {
  private static final int KEY_BYTES = 8;

  private final SmallStore store;
  private final Counter counter;
  private final EpochUser blocker;
  private final RecordMover mover;
  private final IndexEntry entry = new IndexEntry();
  private final KeyBytes key = new KeyBytes();
  private final ByteSpan keySpan;
  private long base;

  private CollapsedCounter(SmallStore store, Counter counter, MemorySegment key) {
    this.store = store;
    this.counter = counter;
    this.key.set(key, KEY_BYTES);
    keySpan = ByteSpan.of(key);
    blocker = store.engine().epochs().register();
    mover = new RecordMover(store.engine(), null);
  }

  static CollapsedCounter longs(OffHeapArena arena) {
    MergeableLongFunctions<Void> sum = LongFunctions.sum();
    SmallStore store = new SmallStore(arena, RecordKind.LONGS, sum);
    MemorySegment key = arena.allocate("key", KEY_BYTES, Long.BYTES);
    key.copyFrom(MemorySegment.ofArray(new long[] {LongCounter.KEY}));
    return new CollapsedCounter(store, new LongCounter(store), key);
  }

  static CollapsedCounter spans(OffHeapArena arena) {
    SmallStore store = new SmallStore(arena, RecordKind.SPANS, new SumFunctions());
    MemorySegment key = arena.allocate("key", KEY_BYTES, Long.BYTES);
    key.copyFrom(MemorySegment.ofArray(SpanCounter.KEY));
    return new CollapsedCounter(store, new SpanCounter(store), key);
  }

  /** Sets the counter to two, one of which is in a delta. */
  CollapsedCounter reset() {
    store.tidy();
    counter.delete();
    counter.add(0);
    base = newest();
    blocker.protect();
    store.engine().foldOver();
    Status status = counter.add(0);
    blocker.unprotect();
    if (status != Status.DELTA_APPENDED) {
      throw new AssertionError("no delta was made: " + status);
    }
    while (store.log().safeReadOnlyAddress() <= base) {
      store.log().assist();
    }
    return this;
  }

  private long newest() {
    long hash = store.engine().hash(key);
    blocker.protect();
    try {
      if (!store.engine().index().enter(hash, entry) || !store.engine().index().find(hash, entry)) {
        throw new AssertionError("the key has no entry");
      }
      return entry.address();
    } finally {
      blocker.unprotect();
    }
  }

  void add() {
    counter.add(1);
    counter.add(1);
  }

  void collapse() {
    if (!mover.moveIfLive(base, keySpan, keySpan, base + 1, true)) {
      throw new AssertionError("the value is live");
    }
  }

  long sum() {
    return counter.sum();
  }
}
