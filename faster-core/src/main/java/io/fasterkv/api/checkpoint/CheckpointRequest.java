package io.fasterkv.api.checkpoint;

/**
 * Says what a checkpoint contains.
 *
 * @param kind how the log is made durable
 * @param withIndex whether the index is written too. Without it, recovery loads the newest earlier
 *     index image and replays the log from there: the checkpoint is cheaper, the recovery slower
 */
public record CheckpointRequest(CheckpointKind kind, boolean withIndex) {
  /**
   * Checks that the two settings fit together.
   *
   * @throws IllegalArgumentException if the kind is {@link CheckpointKind#INDEX_ONLY} without the
   *     index
   */
  public CheckpointRequest {
    if (kind == CheckpointKind.INDEX_ONLY && !withIndex) {
      throw new IllegalArgumentException(
          "a checkpoint of the index has the index: kind="
              + kind
              + ", withIndex=false, allowed=true; use CheckpointRequest.indexOnly()");
    }
  }

  /**
   * Requests a checkpoint of log and index.
   *
   * @param kind how the log is made durable
   * @return the request
   */
  public static CheckpointRequest full(CheckpointKind kind) {
    return new CheckpointRequest(kind, true);
  }

  /**
   * Requests a checkpoint of the log alone, on top of the newest index image. If there is no image,
   * the checkpoint writes the index too.
   *
   * @param kind how the log is made durable
   * @return the request
   */
  public static CheckpointRequest logOnly(CheckpointKind kind) {
    return new CheckpointRequest(kind, false);
  }

  /**
   * Requests a checkpoint of the index alone.
   *
   * @return the request
   */
  public static CheckpointRequest indexOnly() {
    return new CheckpointRequest(CheckpointKind.INDEX_ONLY, true);
  }
}
