package io.fasterkv;

import io.fasterkv.compaction.LogUpkeep;
import io.fasterkv.operation.core.Engine;
import java.lang.reflect.Field;

/** Opens a store for tests of the backend that access its internals or stop its threads. */
public final class StoreInsides {
  private StoreInsides() {}

  static Engine engine(FasterStore store) {
    return ((StoreParts) field(store, "parts")).engine();
  }

  /** Stops background compaction: from now on the store is compacted only on request. */
  public static void stopBackgroundCompaction(FasterStore store) {
    ((LogUpkeep) field(store, "upkeep")).close();
  }

  static Object field(Object owner, String name) {
    try {
      Field field = owner.getClass().getDeclaredField(name);
      field.setAccessible(true);
      return field.get(owner);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }
}
