package io.fasterkv.bench.nexmark.sql;

import org.apache.flink.table.functions.ScalarFunction;
import org.jspecify.annotations.Nullable;

/** Counts how often a text has a character: the function of query 14. */
public final class CountChar extends ScalarFunction {
  private static final long serialVersionUID = 1;

  /** Created by Flink. */
  public CountChar() {}

  /** Called by generated code. */
  public long eval(@Nullable String text, @Nullable String character) {
    if (text == null || character == null || character.isEmpty()) {
      return 0;
    }
    return text.chars().filter(c -> c == character.charAt(0)).count();
  }
}
