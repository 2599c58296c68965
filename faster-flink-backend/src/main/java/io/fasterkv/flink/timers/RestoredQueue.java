package io.fasterkv.flink.timers;

import java.io.IOException;

/** A timer queue that a restore fills from a snapshot. */
@FunctionalInterface
public interface RestoredQueue {

  /** Adds a serialized timer: the bytes of the array from {@code offset} on. */
  void add(int keyGroup, byte[] bytes, int offset) throws IOException;
}
