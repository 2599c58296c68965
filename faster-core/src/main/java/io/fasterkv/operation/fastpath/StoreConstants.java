package io.fasterkv.operation.fastpath;

import io.fasterkv.index.HashIndex;
import io.fasterkv.index.IndexTable;
import io.fasterkv.index.IndexView;
import io.fasterkv.log.LogView;
import io.fasterkv.log.UpdateRegions;
import io.fasterkv.operation.core.Engine;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;

/**
 * The constants of a class for one store and one size of its index; see {@link StoreClass}. A
 * record class, so that the compiler treats all its parts as constants.
 */
record StoreConstants(HashIndex hashIndex, IndexView index, LogView log, UpdateRegions regions) {

  static StoreConstants of(Engine engine, IndexTable table) {
    return new StoreConstants(
        engine.index(), IndexView.of(table), engine.log().view(), engine.log().regions());
  }

  /** The constants of the calling hidden class. */
  static StoreConstants of(Lookup asking) {
    try {
      return MethodHandles.classData(asking, "_", StoreConstants.class);
    } catch (IllegalAccessException e) {
      throw new LinkageError("a hidden class does not see its own data", e);
    }
  }

  /** Whether the index has this size and neither it nor the store's version is changing. */
  boolean areCurrent() {
    return hashIndex.quietTable() == index.table();
  }
}
