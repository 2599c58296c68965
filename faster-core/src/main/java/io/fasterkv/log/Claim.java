package io.fasterkv.log;

/** What bytes at the tail are for: tells which of the last pages of a full memory they may take. */
public enum Claim {
  /** Anything that a session writes and that makes the log longer. */
  RECORD,
  /** The tombstone of a record that cannot be marked where it lies: it makes others dead. */
  TOMBSTONE,
  /** A fork, for a shrinkage of the index that has reserved room for all of its forks. */
  FORK
}
