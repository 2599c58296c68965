package io.fasterkv;

import io.fasterkv.api.CheckpointInfo;
import io.fasterkv.api.CheckpointToken;
import io.fasterkv.api.DumpedRecord;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.checkpoint.CheckpointInspection;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Looks at the checkpoints in a store's directory without opening the store. Only reads; no store
 * may be open on the directory meanwhile, since one may remove what is looked at. All methods throw
 * {@link Corrupt}, with the file and the offset, where what they read is not what was written, and
 * {@link BadConfig} if there is no such checkpoint.
 */
public final class Checkpoints {
  private final CheckpointInspection inspection;

  private Checkpoints(CheckpointInspection inspection) {
    this.inspection = inspection;
  }

  /**
   * The checkpoints in a directory.
   *
   * @throws BadConfig if it is not there
   */
  public static Checkpoints of(Path directory) {
    return new Checkpoints(new CheckpointInspection(directory));
  }

  /** All of them, oldest first, also those whose manifests cannot be read. */
  public List<CheckpointToken> tokens() {
    return inspection.tokens();
  }

  /** What those say of themselves whose manifests can be read, oldest first. */
  public List<CheckpointInfo> list() {
    List<CheckpointInfo> readable = new ArrayList<>();
    for (CheckpointToken token : tokens()) {
      try {
        readable.add(describe(token));
      } catch (Corrupt e) {
        // Who wants to know why asks for this one by its token.
        continue;
      }
    }
    return readable;
  }

  /** What a checkpoint says of itself. Reads its manifest alone. */
  public CheckpointInfo describe(CheckpointToken token) {
    return inspection.describe(token);
  }

  /** Reads every byte of a checkpoint and compares all checksums. */
  public void verify(CheckpointToken token) {
    inspection.verify(token);
  }

  /**
   * Shows the live records of a checkpoint, in the order of their addresses, deltas one by one. A
   * record and its spans are the consumer's to keep. Takes heap for all keys.
   */
  public void dump(CheckpointToken token, Consumer<DumpedRecord> consumer) {
    inspection.dump(token, consumer);
  }
}
