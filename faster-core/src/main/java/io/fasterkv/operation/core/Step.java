package io.fasterkv.operation.core;

/** The result of an attempt of an operation. */
public enum Step {
  /** The operation has its status. */
  DONE,
  /** Nothing has happened: leave the epoch and repeat the attempt. */
  RETRY,
  /** What was found on disk is no longer the newest: search again, starting at the index. */
  RESTART,
  /** The operation continues with the record at its disk address. */
  READ_DISK,
  /** A large value must be read or written before the next attempt. */
  LARGE,
  /** Others use the scratch memory that is needed: retry later. */
  WAIT
}
