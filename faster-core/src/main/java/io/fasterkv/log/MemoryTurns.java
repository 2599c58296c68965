package io.fasterkv.log;

/** The life of pages in a log without a device: the head follows the begin address. */
final class MemoryTurns extends PageTurns {
  private final Truncation truncation;

  MemoryTurns(LogParts parts) {
    super(parts);
    truncation = parts.truncation();
  }

  @Override
  long mostMutable(long pages) {
    return pages;
  }

  @Override
  long clearedTogether() {
    return 0;
  }

  @Override
  void becameImmutable(long address) {
    marks().advanceFlushed(address);
  }

  @Override
  void roomWanted(long address) {}

  /** Lets frames be cleared as far as neither the log nor a pinned reader uses them. */
  @Override
  void moveHead() {
    announceHead(Math.min(marks().head(), truncation.releasedUntil()));
  }
}
