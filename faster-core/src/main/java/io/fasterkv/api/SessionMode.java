package io.fasterkv.api;

/** What a session does when an operation needs a record that lies on disk. */
public enum SessionMode {
  /** The operation returns {@link Status#PENDING}; many reads can be under way at once. */
  PENDING,
  /** The calling thread reads the disk itself; no operation ever returns PENDING. */
  BLOCKING
}
