package io.fasterkv.checkpoint;

import io.fasterkv.api.CheckpointToken;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.device.DurableFiles;
import io.fasterkv.log.HybridLog;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;

/**
 * The checkpoints of a store, and how much of the log they need. A checkpoint stays until its owner
 * removes it, and keeps the log's storage from its begin on. Safe for all threads.
 */
public final class KeptCheckpoints {
  private final CheckpointFiles files;
  private final HybridLog log;

  /** Where the log of each checkpoint begins, by the checkpoint's number. */
  private final TreeMap<Long, Long> begins = new TreeMap<>();

  /** No number is used twice while the store is open. */
  private long lastNumber;

  /** Finds the checkpoints that the store's directory has. */
  public KeptCheckpoints(StoreConfig config, HybridLog log) {
    this.log = log;
    files = new CheckpointFiles(config.directory());
    for (long number : files.complete()) {
      add(number, begin(files.manifest(number)));
    }
    // What the last owner of the directory had no time to give back.
    log.giveBack();
  }

  /** All checkpoints, oldest first. */
  public synchronized List<CheckpointToken> tokens() {
    return begins.keySet().stream().map(CheckpointToken::new).toList();
  }

  /**
   * Removes a checkpoint, and then the part of the log that only it needed. The manifest goes
   * first, durably: a power cut leaves the checkpoint whole or gone.
   */
  public synchronized void remove(CheckpointToken token) {
    Long begin = begins.get(token.number());
    if (begin == null) {
      throw new BadConfig(
          "there is no such checkpoint: number=" + token.number() + ", allowed=" + begins.keySet());
    }
    try {
      Files.deleteIfExists(files.manifest(token.number()));
      DurableFiles.forceDirectory(files.directory());
      Files.deleteIfExists(files.index(token.number()));
    } catch (IOException e) {
      throw new DeviceFailed("a checkpoint could not be removed: " + e.getMessage(), e);
    }
    begins.remove(token.number());
    log.release(begin);
  }

  synchronized long nextNumber() {
    return lastNumber + 1;
  }

  /** Keeps the log from {@code begin} on for a checkpoint, complete or about to be. */
  synchronized void add(long number, long begin) {
    log.retain(begin);
    begins.put(number, begin);
    lastNumber = Math.max(lastNumber, number);
  }

  /** Takes back {@link #add}, unless the checkpoint has come into being all the same. */
  synchronized void abandon(long number) {
    if (!Files.exists(files.manifest(number))) {
      Long begin = begins.remove(number);
      if (begin != null) {
        log.release(begin);
      }
    }
  }

  /** A checkpoint whose manifest cannot be read may need all of the log. */
  private static long begin(Path manifest) {
    try {
      return ManifestCodec.decode(ByteBuffer.wrap(Files.readAllBytes(manifest)), manifest)
          .log()
          .beginAddress();
    } catch (IOException | Corrupt e) {
      return 0;
    }
  }
}
