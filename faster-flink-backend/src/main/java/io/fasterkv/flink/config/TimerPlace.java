package io.fasterkv.flink.config;

/** Where a job's timers are stored. */
public enum TimerPlace {
  /** In the store; the heap holds one timer for each key group and queue. */
  STORE,
  /** On the heap, as objects. */
  HEAP
}
