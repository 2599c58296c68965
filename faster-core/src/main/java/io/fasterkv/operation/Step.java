package io.fasterkv.operation;

/** How an attempt at an operation ended. */
enum Step {
  /** The operation has its status. */
  DONE,
  /** Nothing has happened: let go of the epoch and try the same again. */
  RETRY,
  /** What was found on disk is not the newest any more: search again from the index. */
  RESTART,
  /** The operation goes on with the record at its disk address. */
  READ_DISK,
  /** A large value is read or written before the operation is attempted again. */
  LARGE,
  /** Scratch memory is needed that others have: come again later. */
  WAIT
}
