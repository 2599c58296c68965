package io.fasterkv.flink.restore;

/** Counts what a restore puts into the store entry by entry. For the task thread. */
final class InsertProgress {
  /** Looks at the clock between so many entries. */
  private static final int LOOK_EVERY = 1 << 10;

  private final RestoreProgress progress;
  private final String what;
  private final long parts;
  private long doneParts;
  private long entries;
  private long bytes;

  /**
   * Nothing is counted yet.
   *
   * @param what is being done
   * @param parts how many there are to go over: key groups, or bytes
   */
  InsertProgress(RestoreProgress progress, String what, long parts) {
    this.progress = progress;
    this.what = what;
    this.parts = parts;
  }

  /** One more entry is in the store. */
  void add(long entryBytes) {
    entries++;
    bytes += entryBytes;
    if (entries % LOOK_EVERY == 0) {
      tell();
    }
  }

  /** Whatever there was in some more parts is in the store. */
  void passed(long moreParts) {
    doneParts += moreParts;
    tell();
  }

  private void tell() {
    progress.tell(what, this);
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
