package io.fasterkv.bench.args;

import picocli.CommandLine.Option;

/** The option for one state backend. */
public final class BackendOption {
  @Option(
      names = "--backend",
      paramLabel = "NAME",
      converter = BackendConverter.class,
      description = "State backend: faster, hashmap or rocksdb. Default: ${DEFAULT-VALUE}.")
  Backend backend = Backend.FASTER;

  /** Set by picocli. */
  public BackendOption() {}

  public Backend backend() {
    return backend;
  }
}
