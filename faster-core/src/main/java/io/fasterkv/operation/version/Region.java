package io.fasterkv.operation.version;

/** The region in which an operation has found the newest record of its key. */
public enum Region {
  /** There was none, or it was not searched for. */
  NONE,
  /** The region where updates are made in place, or some thread may still be making one. */
  MUTABLE,
  /** In memory, where updates copy. */
  READ_ONLY,
  DISK
}
