package io.fasterkv.stress;

import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.memory.OffHeapArena;

/** A counter that one actor updates in place while the other makes it outgrow its record. */
final class OutgrownCounter {
  private final SmallStore store;
  private final SpanCounter counter;

  OutgrownCounter(OffHeapArena arena) {
    store = new SmallStore(arena, RecordKind.SPANS, null);
    counter = new SpanCounter(store);
  }

  /** Sets the counter to one, in a record of its own. */
  OutgrownCounter reset() {
    store.tidy();
    counter.delete();
    counter.add(0);
    return this;
  }

  void add() {
    counter.add(0);
    counter.add(0);
  }

  void addAndGrow() {
    counter.addAndGrow(1);
  }

  long sum() {
    return counter.sum();
  }
}
