package io.fasterkv.operation;

/** Drives a session's pending operations where nobody calls {@code completePending}. */
interface Arrivals {

  /** A record has arrived; called on a thread of the device, or on the session's. */
  void arrived();

  /** An operation has ended; called on the thread that the session is used by. */
  void ended(Promise promise);
}
