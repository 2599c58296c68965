package io.fasterkv.compaction;

import io.fasterkv.api.StoreConfig;
import io.fasterkv.log.HybridLog;

/**
 * Keeps the log within twice its live bytes and twice the log's memory. What is live is at least
 * what a pass has found to be: while one is under way, the larger of what the last one found and
 * what this one has found so far. A log that grows by inserts alone is so held back to about the
 * pace of compaction, and goes on.
 *
 * <p>If a pass ends with the log still too long, writers wait for the next, which then finds all
 * that is to be dropped. Should that not do, then what is in the way is not for compaction to drop,
 * as a large value that is being written is not: writers go on.
 */
final class WriteBrake {
  private final HybridLog log;
  private final long memoryBytes;
  private final boolean isUsed;
  private long liveBytes;
  private boolean wasTooLong;

  /** A store whose owner sets the pace of compaction has no brake. */
  WriteBrake(HybridLog log, StoreConfig config) {
    this.log = log;
    memoryBytes = config.logMemoryBytes();
    isUsed = config.compactionBytesPerSecond() == 0;
    allow(0);
  }

  /** Notes how many live bytes the pass that is under way has found. */
  void found(long bytes) {
    if (bytes > liveBytes) {
      allow(bytes);
    }
  }

  /** Notes how many live bytes a pass has found, and how long the log is now. */
  void passed(long bytes, long logBytes) {
    liveBytes = bytes;
    boolean isTooLong = logBytes > allowed(bytes);
    if (isTooLong && wasTooLong) {
      log.brake().letGo();
    } else {
      allow(bytes);
    }
    wasTooLong = isTooLong && !wasTooLong;
  }

  /** Lets writers go, for good if the store is closing. */
  void letGo() {
    log.brake().letGo();
  }

  private void allow(long bytes) {
    if (isUsed) {
      log.brake().allow(allowed(bytes));
    }
  }

  private long allowed(long bytes) {
    return 2 * Math.max(bytes, memoryBytes) + 2 * memoryBytes;
  }
}
