package io.fasterkv.flink.snapshot;

import java.util.UUID;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * What incremental checkpoints know about a store's log.
 *
 * @param name stays the same as long as checkpoints share files
 * @param stored the key groups that the log may have records of
 * @param history the log's files in checkpoints
 */
public record SharedLog(UUID name, StoredKeys stored, UploadHistory history) {

  /** The shared log of a store that began empty. */
  public static SharedLog of(KeyGroupRange own) {
    return new SharedLog(UUID.randomUUID(), StoredKeys.of(own), new UploadHistory());
  }
}
