package io.fasterkv.flink.timers;

import java.io.IOException;

/** A timer queue that is being filled from a snapshot. */
@FunctionalInterface
public interface RestoredQueue {

  /** Adds a serialized timer: the array's bytes from {@code offset} on. */
  void add(int keyGroup, byte[] bytes, int offset) throws IOException;
}
