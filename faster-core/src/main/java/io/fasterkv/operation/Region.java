package io.fasterkv.operation;

/** Where in the log an operation has found the newest record of its key. */
enum Region {
  /** There was none, or it was not looked for. */
  NONE,
  /** Where updates are made in place, or some thread may still be making one. */
  MUTABLE,
  /** In memory, where updates copy. */
  READ_ONLY,
  DISK
}
