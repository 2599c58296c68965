package io.fasterkv.bench.flink;

import java.util.EnumSet;
import java.util.Set;

/** What is done to the state of one key after another, named as in Flink's benchmarks of state. */
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

  /** Whether each call looks up, changes or replaces what one key has; others walk through it. */
  boolean isPoint() {
    return isPoint;
  }

  /** What counts as operations: the entries where a map is walked through, otherwise the calls. */
  long operations(long calls) {
    return switch (this) {
      case mapKeys, mapValues, mapEntries, mapIterator -> calls * StateData.MAP_KEYS;
      default -> calls;
    };
  }

  /** Whether a key is not again as it was loaded when the state was brought back. */
  boolean leavesChanges() {
    return switch (this) {
      case valueUpdate, listUpdate, listAppend, listAddAll, mapUpdate, mapRemove, mapPutAll -> true;
      default -> false;
    };
  }

  /**
   * Whether what is dead of what a slice has written is so because the state was brought back, but
   * for next to nothing: new keys are cleared again, and lists of a hundred elements become short.
   */
  boolean onlyAdds() {
    return switch (this) {
      case valueAdd, listAdd, listAddAll, mapAdd -> true;
      default -> false;
    };
  }

  /**
   * So many times longer than others it is measured: what overwrites or removes waits for
   * compaction in some slices and not in others.
   */
  int stretch() {
    return leavesChanges() && !onlyAdds() ? 3 : 1;
  }
}
