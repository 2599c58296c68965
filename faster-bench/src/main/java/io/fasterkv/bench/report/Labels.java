package io.fasterkv.bench.report;

import io.fasterkv.api.checkpoint.CheckpointKind;
import java.util.Locale;

/** The names of constants in rows and figures. */
public final class Labels {
  private Labels() {}

  /** A constant's name in words. */
  public static String of(Enum<?> constant) {
    return constant == CheckpointKind.FOLD_OVER
        ? "fold-over"
        : constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
