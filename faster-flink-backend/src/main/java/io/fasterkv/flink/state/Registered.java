package io.fasterkv.flink.state;

import org.apache.flink.runtime.state.RegisteredStateMetaInfoBase;

/** A state or a timer queue in the store. It has a number in record keys and snapshots. */
public sealed interface Registered permits RegisteredState, RegisteredQueue {

  /** The number. */
  int id();

  String name();

  /** Flink's metadata. */
  RegisteredStateMetaInfoBase metaInfo();
}
