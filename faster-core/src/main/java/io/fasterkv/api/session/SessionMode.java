package io.fasterkv.api.session;

/** Says what a session does when an operation needs a record that is on disk. */
public enum SessionMode {
  /**
   * The operation returns {@link io.fasterkv.api.Status#PENDING}. Many reads can be in progress at
   * once.
   */
  PENDING,
  /**
   * The calling thread waits for the disk read. No operation returns {@link
   * io.fasterkv.api.Status#PENDING}.
   */
  BLOCKING
}
