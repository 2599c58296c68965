package io.fasterkv;

import io.fasterkv.checkpoint.shift.CheckpointDriver;
import io.fasterkv.compaction.Compactor;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.core.Engine;
import java.lang.reflect.Field;

/** Opens a store for tests that access its internals. */
public final class Insides {
  private Insides() {}

  public static Engine engine(FasterStore store) {
    try {
      Field parts = FasterStore.class.getDeclaredField("parts");
      parts.setAccessible(true);
      return ((StoreParts) parts.get(store)).engine();
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  public static Compactor compactor(FasterStore store) {
    try {
      Field compactor = FasterStore.class.getDeclaredField("compactor");
      compactor.setAccessible(true);
      return (Compactor) compactor.get(store);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  public static CheckpointDriver driver(FasterStore store) {
    return store.checkpoints().driver();
  }

  /** The state of the log. */
  public static String marks(FasterStore store) {
    HybridLog log = engine(store).log();
    return "begin="
        + log.beginAddress()
        + ", head="
        + log.headAddress()
        + ", flushed="
        + log.flushedAddress()
        + ", safeReadOnly="
        + log.safeReadOnlyAddress()
        + ", inPlaceFrom="
        + log.regions().inPlaceFrom()
        + ", tail="
        + log.tailAddress()
        + ", epoch="
        + engine(store).epochs().currentEpoch()
        + ", safeEpoch="
        + engine(store).epochs().safeEpoch();
  }
}
