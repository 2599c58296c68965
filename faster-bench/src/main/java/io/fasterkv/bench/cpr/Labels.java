package io.fasterkv.bench.cpr;

import io.fasterkv.api.CheckpointKind;
import java.util.Locale;

/** How things are called in rows and figures. */
final class Labels {
  private Labels() {}

  static String of(Enum<?> constant) {
    return constant == CheckpointKind.FOLD_OVER
        ? "fold-over"
        : constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
