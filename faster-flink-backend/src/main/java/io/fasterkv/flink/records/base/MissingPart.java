package io.fasterkv.flink.records.base;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.key.KeyLayout;

/**
 * A part of a value is missing from the store, in a state that never had a time to live. On the
 * task's thread it means that state was lost; on another thread, that the value has changed during
 * the read.
 */
public final class MissingPart extends IllegalStateException {
  private static final long serialVersionUID = 1;

  public MissingPart(String state, CompositeKey key, int part) {
    super(
        "a part of a value is missing, the store is damaged: state="
            + state
            + ", keyGroup="
            + KeyLayout.keyGroup(key.copyOfPrefix(), 0)
            + ", part="
            + Integer.toUnsignedString(part)
            + "; restore the job from a checkpoint, and report this as a bug");
  }
}
