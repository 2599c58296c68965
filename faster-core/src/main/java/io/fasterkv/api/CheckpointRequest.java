package io.fasterkv.api;

/**
 * What a checkpoint is to hold.
 *
 * @param kind how the log is made durable
 * @param withIndex whether the index is written as well. Without it, recovery takes the newest
 *     index image before and goes over the log from there on: cheap to take often, slower to
 *     recover
 */
public record CheckpointRequest(CheckpointKind kind, boolean withIndex) {
  public CheckpointRequest {
    if (kind == CheckpointKind.INDEX_ONLY && !withIndex) {
      throw new IllegalArgumentException(
          "a checkpoint of the index has the index: kind="
              + kind
              + ", withIndex=false, allowed=true; use CheckpointRequest.indexOnly()");
    }
  }

  /** Log and index. */
  public static CheckpointRequest full(CheckpointKind kind) {
    return new CheckpointRequest(kind, true);
  }

  /** The log alone, on top of the newest index image there is; with the index if there is none. */
  public static CheckpointRequest logOnly(CheckpointKind kind) {
    return new CheckpointRequest(kind, false);
  }

  /** The index alone. */
  public static CheckpointRequest indexOnly() {
    return new CheckpointRequest(CheckpointKind.INDEX_ONLY, true);
  }
}
