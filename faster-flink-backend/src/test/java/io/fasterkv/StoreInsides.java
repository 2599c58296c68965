package io.fasterkv;

import io.fasterkv.compaction.BackgroundCompaction;
import io.fasterkv.operation.Engine;
import java.lang.reflect.Field;

/** Opens a store for tests of the backend that look inside, or keep its threads still. */
public final class StoreInsides {
  private StoreInsides() {}

  static Engine engine(FasterStore store) {
    return ((StoreParts) field(store, "parts")).engine();
  }

  /** From now on the store is compacted only by who asks for it. */
  public static void stopBackgroundCompaction(FasterStore store) {
    ((BackgroundCompaction) field(store, "compaction")).close();
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
