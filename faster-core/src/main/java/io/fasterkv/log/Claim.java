package io.fasterkv.log;

/**
 * The purpose of an allocation at the tail. It decides which of the last pages of a full memory the
 * allocation may use.
 */
public enum Claim {
  /** A record of a session that makes the log longer. */
  RECORD,
  /** The tombstone of a record that cannot be marked in place: it makes other records dead. */
  TOMBSTONE,
  /** A fork, for an index shrinkage that has reserved room for all of its forks. */
  FORK
}
