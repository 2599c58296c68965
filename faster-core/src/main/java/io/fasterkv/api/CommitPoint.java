package io.fasterkv.api;

import java.util.Collections;
import java.util.List;

/**
 * The operations of one named session that a checkpoint contains: all up to a serial number except
 * the excluded ones, and none after it (CPR, section 5.2).
 *
 * <p>An update that fails while it is pending keeps its serial number and does not take effect. It
 * is excluded until the failure was reported and the session has then accepted another operation,
 * that is, until the user has issued the update again or has continued without it. After a crash,
 * issue the excluded operations and those after the point again; each then takes effect once. Do so
 * before the next checkpoint: a checkpoint that contains an operation of the resumed session no
 * longer lists them.
 *
 * @param serial the number of the last operation of the version; 0 for none
 * @param excluded the updates up to {@code serial} that did not take effect, ascending
 */
public record CommitPoint(long serial, List<Long> excluded) {
  /** The point of a session without operations. */
  public static final CommitPoint NONE = new CommitPoint(0, List.of());

  public CommitPoint {
    excluded = List.copyOf(excluded);
  }

  /** Whether the checkpoint contains the operation with a serial number, if it is an update. */
  public boolean has(long operation) {
    return operation <= serial && Collections.binarySearch(excluded, operation) < 0;
  }
}
