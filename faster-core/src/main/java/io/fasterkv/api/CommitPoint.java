package io.fasterkv.api;

import java.util.Collections;
import java.util.List;

/**
 * What a checkpoint has of one named session: all operations up to a serial number except those
 * that are listed, and none after it (CPR, section 5.2).
 *
 * <p>An update that fails while it is pending keeps its serial number and does not take effect. It
 * is listed until the session's user has been told of it and the session has then accepted another
 * operation: until the user has issued it again, or has gone on without it. So after a crash the
 * listed operations, and those after the point, are the ones to issue again, and each takes effect
 * once. After a recovery, issue all listed operations again before the next checkpoint: a
 * checkpoint that has an operation of the resumed session lists them no longer.
 *
 * @param serial the number of the last operation of the version; 0 for none
 * @param excluded the updates up to {@code serial} that did not take effect, ascending
 */
public record CommitPoint(long serial, List<Long> excluded) {
  /** A session that has done nothing. */
  public static final CommitPoint NONE = new CommitPoint(0, List.of());

  public CommitPoint {
    excluded = List.copyOf(excluded);
  }

  /** Whether the checkpoint has an operation, if that changes anything. */
  public boolean has(long operation) {
    return operation <= serial && Collections.binarySearch(excluded, operation) < 0;
  }
}
