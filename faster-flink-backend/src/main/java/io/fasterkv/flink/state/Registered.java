package io.fasterkv.flink.state;

import org.apache.flink.runtime.state.RegisteredStateMetaInfoBase;

/** What has a number in record keys and in snapshots: a state, or a timer queue in the store. */
public sealed interface Registered permits RegisteredState, RegisteredQueue {

  /** The number. */
  int id();

  String name();

  /** What Flink knows about it. */
  RegisteredStateMetaInfoBase metaInfo();
}
