package io.fasterkv.flink.config;

/** Where the timers of a job are. */
public enum TimerPlace {
  /** In the store: on the heap there is one timer for each key group and queue. */
  STORE,
  /** On the heap, as objects. */
  HEAP
}
