package io.fasterkv.flink.restore;

/** Counts the entries that a restore inserts. For the task thread. */
final class InsertProgress {
  /** Number of entries between two looks at the clock. */
  private static final int LOOK_EVERY = 1 << 10;

  private final RestoreProgress progress;
  private final String what;
  private final long parts;
  private long doneParts;
  private long entries;
  private long bytes;

  /**
   * @param what the name of the work
   * @param parts the total number of parts: key groups or bytes
   */
  InsertProgress(RestoreProgress progress, String what, long parts) {
    this.progress = progress;
    this.what = what;
    this.parts = parts;
  }

  /** Called after an entry was inserted. */
  void add(long entryBytes) {
    entries++;
    bytes += entryBytes;
    if (entries % LOOK_EVERY == 0) {
      logProgress();
    }
  }

  /** Called after all entries of some more parts were inserted. */
  void passed(long moreParts) {
    doneParts += moreParts;
    logProgress();
  }

  private void logProgress() {
    progress.logProgress(what, this);
  }

  long entries() {
    return entries;
  }

  long bytes() {
    return bytes;
  }

  @Override
  public String toString() {
    return "percent="
        + (parts == 0 ? 100 : 100 * doneParts / parts)
        + ", entries="
        + entries
        + ", bytes="
        + bytes;
  }
}
