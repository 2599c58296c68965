package io.fasterkv.bench.flink;

import java.util.EnumSet;
import java.util.Set;

/**
 * The operations on the state of one key after another, named as in Flink's benchmarks of state.
 */
enum StateRow {
  valueUpdate(true, Suite.VALUE, Suite.TTL_VALUE),
  valueAdd(true, Suite.VALUE, Suite.TTL_VALUE),
  valueGet(true, Suite.VALUE, Suite.TTL_VALUE),
  listUpdate(true, Suite.LIST, Suite.TTL_LIST),
  listAdd(true, Suite.LIST, Suite.TTL_LIST),
  listAppend(true, Suite.LIST, Suite.TTL_LIST),
  listGet(true, Suite.LIST, Suite.TTL_LIST),
  listGetAndIterate(true, Suite.LIST, Suite.TTL_LIST),
  listAddAll(true, Suite.LONG_LIST, Suite.TTL_LONG_LIST),
  mapUpdate(true, Suite.MAP, Suite.TTL_MAP),
  mapAdd(true, Suite.MAP, Suite.TTL_MAP),
  mapGet(true, Suite.MAP, Suite.TTL_MAP),
  mapContains(true, Suite.MAP),
  mapIsEmpty(true, Suite.MAP, Suite.TTL_MAP),
  mapKeys(false, Suite.MAP),
  mapValues(false, Suite.MAP),
  mapEntries(false, Suite.MAP),
  mapIterator(false, Suite.MAP, Suite.TTL_MAP),
  mapRemove(true, Suite.MAP),
  mapPutAll(true, Suite.MAP, Suite.TTL_MAP);

  private final boolean isPoint;
  private final Set<Suite> suites;

  StateRow(boolean isPoint, Suite first, Suite... others) {
    this.isPoint = isPoint;
    this.suites = EnumSet.of(first, others);
  }

  boolean isOf(Suite suite) {
    return suites.contains(suite);
  }

  /**
   * Whether each call looks up, changes or replaces one entry of a key; others iterate over the
   * state.
   */
  boolean isPoint() {
    return isPoint;
  }

  /** Number of operations: the entries if a map is iterated over, otherwise the calls. */
  long operations(long calls) {
    return switch (this) {
      case mapKeys, mapValues, mapEntries, mapIterator -> calls * StateData.MAP_KEYS;
      default -> calls;
    };
  }

  /** Whether a key differs from how it was loaded after the state was restored. */
  boolean leavesChanges() {
    return switch (this) {
      case valueUpdate, listUpdate, listAppend, listAddAll, mapUpdate, mapRemove, mapPutAll -> true;
      default -> false;
    };
  }

  /**
   * Whether nearly all dead records of a slice are due to restoring the state: new keys are cleared
   * again, and lists of a hundred elements become short.
   */
  boolean onlyAdds() {
    return switch (this) {
      case valueAdd, listAdd, listAddAll, mapAdd -> true;
      default -> false;
    };
  }

  /**
   * The factor by which it is measured longer than others: rows that overwrite or remove wait for
   * compaction in some slices and not in others.
   */
  int stretch() {
    return leavesChanges() && !onlyAdds() ? 3 : 1;
  }
}
