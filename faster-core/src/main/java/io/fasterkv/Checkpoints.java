package io.fasterkv;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.checkpoint.CheckpointInfo;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.checkpoint.DumpedRecord;
import io.fasterkv.checkpoint.inspect.CheckpointInspection;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Inspects the checkpoints in a store's directory without opening the store. It only reads. No
 * store may be open on the directory at the same time, because it could remove what is being read.
 * All methods throw {@link Corrupt}, with the file and the offset, if the bytes are not those that
 * were written, and {@link BadConfig} if there is no such checkpoint.
 */
public final class Checkpoints {
  private final CheckpointInspection inspection;

  private Checkpoints(CheckpointInspection inspection) {
    this.inspection = inspection;
  }

  /**
   * Inspects a directory.
   *
   * @param directory the store's directory
   * @return its checkpoints
   * @throws BadConfig if the directory does not exist
   */
  public static Checkpoints of(Path directory) {
    return new Checkpoints(new CheckpointInspection(directory));
  }

  /** {@return all checkpoints, oldest first, including those with an unreadable manifest} */
  public List<CheckpointToken> tokens() {
    return inspection.tokens();
  }

  /** {@return descriptions of the checkpoints with a readable manifest, oldest first} */
  public List<CheckpointInfo> list() {
    List<CheckpointInfo> readable = new ArrayList<>();
    for (CheckpointToken token : tokens()) {
      try {
        readable.add(describe(token));
      } catch (Corrupt e) {
        // Skipped here; describe(token) reports the error of a single checkpoint.
        continue;
      }
    }
    return readable;
  }

  /**
   * Describes one checkpoint. Reads only its manifest.
   *
   * @param token the checkpoint
   * @return the description
   */
  public CheckpointInfo describe(CheckpointToken token) {
    return inspection.describe(token);
  }

  /**
   * Reads every byte of a checkpoint and verifies all checksums.
   *
   * @param token the checkpoint
   */
  public void verify(CheckpointToken token) {
    inspection.verify(token);
  }

  /**
   * Passes the live records of a checkpoint to a consumer, in address order, and each delta as a
   * record of its own. The consumer may retain a record and its spans. Needs heap memory for all
   * keys.
   *
   * @param token the checkpoint
   * @param consumer receives the records
   */
  public void dump(CheckpointToken token, Consumer<DumpedRecord> consumer) {
    inspection.dump(token, consumer);
  }
}
