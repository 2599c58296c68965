package io.fasterkv.stress;

import io.fasterkv.api.Status;

/** A sum under one key of a store, which two actors update through sessions of their own. */
abstract class Counter {
  /** Adds one. */
  abstract Status add(int actor);

  abstract void delete();

  /** What the store has under the key; -1 for nothing. */
  abstract long sum();
}
