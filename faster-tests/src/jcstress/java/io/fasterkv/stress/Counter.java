package io.fasterkv.stress;

import io.fasterkv.api.Status;

/** A sum under one key of a store. Two actors update it, each through its own session. */
abstract class Counter {
  /** Adds one. */
  abstract Status add(int actor);

  abstract void delete();

  /** The value that the store has for the key, or -1 if there is none. */
  abstract long sum();
}
