package io.fasterkv.bench.args;

import picocli.CommandLine.Option;

/** The option for a run that only shows that everything works. */
public final class QuickOption {
  @Option(
      names = "--quick",
      description = "A rehearsal: few keys, little time. Its figures say nothing.")
  boolean isQuick;

  /** Set by picocli. */
  public QuickOption() {}

  /** Says whether the user wants a rehearsal. */
  public boolean isQuick() {
    return isQuick;
  }
}
