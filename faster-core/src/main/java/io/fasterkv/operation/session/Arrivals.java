package io.fasterkv.operation.session;

import io.fasterkv.operation.core.Promise;

/** Drives a session's pending operations if no caller calls {@code completePending}. */
interface Arrivals {

  /** Called when a record has arrived, on a thread of the device or the session's thread. */
  void arrived();

  /** Called when an operation has ended, on the thread that is using the session. */
  void ended(Promise promise);
}
