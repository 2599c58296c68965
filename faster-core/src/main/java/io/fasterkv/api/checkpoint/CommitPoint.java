package io.fasterkv.api.checkpoint;

import java.util.Collections;
import java.util.List;

/**
 * Says which operations of one named session a checkpoint contains: all up to a serial number,
 * except the excluded ones, and none after it (CPR, SIGMOD'19, section 5.2).
 *
 * <p>An update that fails while it is pending keeps its serial number and does not take effect. The
 * checkpoints list it as excluded until two things have happened: the failure was reported to the
 * session's user, and the session has then accepted another operation. At that point the user has
 * either reissued the update or decided to continue without it. After a crash, the operations to
 * reissue are therefore the excluded ones and those after the point; each then takes effect once.
 * After a recovery, reissue all excluded operations before the next checkpoint: a checkpoint that
 * contains an operation of the resumed session no longer lists them.
 *
 * @param serial serial number of the session's last operation in the version; 0 if there is none
 * @param excluded serial numbers, ascending, of the updates up to {@code serial} that did not take
 *     effect; unmodifiable
 */
public record CommitPoint(long serial, List<Long> excluded) {
  /** The commit point of a session without operations. */
  public static final CommitPoint NONE = new CommitPoint(0, List.of());

  /** Copies the list. */
  public CommitPoint {
    excluded = List.copyOf(excluded);
  }

  /**
   * Tells whether the checkpoint contains an operation.
   *
   * @param operation serial number of the operation, from 1
   * @return true up to {@link #serial}, except for the excluded operations. For an operation
   *     without an effect, such as a read, it says that the operation needs no reissue
   */
  public boolean has(long operation) {
    return operation <= serial && Collections.binarySearch(excluded, operation) < 0;
  }
}
