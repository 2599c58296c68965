package io.fasterkv.bench.report;

import io.fasterkv.api.CheckpointKind;
import java.util.Locale;

/** How constants are called in rows and figures. */
public final class Labels {
  private Labels() {}

  /** A constant's name in words. */
  public static String of(Enum<?> constant) {
    return constant == CheckpointKind.FOLD_OVER
        ? "fold-over"
        : constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
