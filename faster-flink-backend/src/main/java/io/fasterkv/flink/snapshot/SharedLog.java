package io.fasterkv.flink.snapshot;

import java.util.UUID;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * What incremental checkpoints know of a store's log.
 *
 * @param name the same as long as files of one checkpoint go into others
 * @param stored whose keys it may have
 * @param history which files of it checkpoints have
 */
public record SharedLog(UUID name, StoredKeys stored, UploadHistory history) {

  /** Of a store that began empty. */
  public static SharedLog of(KeyGroupRange own) {
    return new SharedLog(UUID.randomUUID(), StoredKeys.of(own), new UploadHistory());
  }
}
