package io.fasterkv.checkpoint.write;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.checkpoint.manifest.CheckpointDependencies;
import io.fasterkv.checkpoint.manifest.CheckpointFiles;
import io.fasterkv.checkpoint.manifest.ManifestCodec;
import io.fasterkv.device.file.DurableFiles;
import io.fasterkv.log.HybridLog;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Tracks the checkpoints of a store and what they need. A checkpoint stays until its owner removes
 * it. It keeps the log's storage from its begin on, and the files of older checkpoints that it
 * builds on, even after these were removed. Safe for all threads.
 */
public final class KeptCheckpoints {
  private final CheckpointFiles files;
  private final HybridLog log;

  /** What each checkpoint needs, by its number. */
  private final TreeMap<Long, CheckpointDependencies> kept = new TreeMap<>();

  /** The same for checkpoints that are being written. */
  private final TreeMap<Long, CheckpointDependencies> underWay = new TreeMap<>();

  /** Numbers are not reused while the store is open. */
  private long lastNumber;

  /** Finds the checkpoints in the store's directory. */
  public KeptCheckpoints(StoreConfig config, HybridLog log) {
    this.log = log;
    files = new CheckpointFiles(config.directory());
    for (long number : files.complete()) {
      CheckpointDependencies dependencies = dependencies(number);
      log.pins().retain(dependencies.deviceFrom());
      kept.put(number, dependencies);
      lastNumber = number;
    }
    // Release what the directory's last owner had no time to release.
    log.pins().releaseStorage();
    sweep();
  }

  /** All checkpoints, oldest first. */
  public synchronized List<CheckpointToken> tokens() {
    return kept.keySet().stream().map(CheckpointToken::new).toList();
  }

  /**
   * Removes a checkpoint, and then what only it needed. Its manifest is removed first, durably, so
   * a power failure leaves the checkpoint whole or not at all.
   */
  public synchronized void remove(CheckpointToken token) {
    CheckpointDependencies dependencies = kept.get(token.number());
    if (dependencies == null) {
      throw new BadConfig(
          "there is no such checkpoint: number=" + token.number() + ", allowed=" + kept.keySet());
    }
    try {
      Files.deleteIfExists(files.manifest(token.number()));
      DurableFiles.forceDirectory(files.directory());
    } catch (IOException e) {
      throw new DeviceFailed("a checkpoint could not be removed: " + e.getMessage(), e);
    }
    kept.remove(token.number());
    try {
      sweep();
    } finally {
      log.pins().release(dependencies.deviceFrom());
    }
  }

  /** The number for the next checkpoint. */
  public synchronized long nextNumber() {
    return lastNumber + 1;
  }

  /**
   * Keeps what a new checkpoint needs; returns false, and keeps nothing, if a file of an older
   * checkpoint no longer exists.
   */
  synchronized boolean begin(long number, CheckpointDependencies dependencies) {
    boolean hasImage =
        dependencies.image() == 0
            || dependencies.image() == number
            || Files.exists(files.index(dependencies.image()));
    boolean hasSnapshots =
        dependencies.snapshots().stream()
            .allMatch(one -> one == number || Files.exists(files.snapshot(one)));
    if (hasImage && hasSnapshots) {
      log.pins().retain(dependencies.deviceFrom());
      underWay.put(number, dependencies);
    }
    return hasImage && hasSnapshots;
  }

  /**
   * Called before the manifest is moved to its final name, with exactly what the checkpoint needs.
   */
  synchronized void publishing(long number, CheckpointDependencies exactly) {
    underWay.put(number, exactly);
    lastNumber = Math.max(lastNumber, number);
  }

  /**
   * Ends {@link #begin}. If the checkpoint exists, it is kept, whether or not its writer has
   * noticed. Otherwise it is forgotten, and its files are removed as far as possible, since they
   * may have filled the disk.
   */
  synchronized void end(long number) {
    CheckpointDependencies dependencies = underWay.remove(number);
    if (dependencies == null) {
      return;
    }
    if (Files.exists(files.manifest(number))) {
      kept.put(number, dependencies);
    } else {
      files.removeUnfinished(number, log.failure().logger());
      log.pins().release(dependencies.deviceFrom());
    }
  }

  /** Removes the images and snapshots that no checkpoint needs. */
  private void sweep() {
    try {
      files.sweep(
          number -> all().anyMatch(dependencies -> dependencies.needsIndex(number)),
          number -> all().anyMatch(dependencies -> dependencies.needsSnapshot(number)));
    } catch (IOException e) {
      throw new DeviceFailed("old files could not be removed: " + e.getMessage(), e);
    }
  }

  private Stream<CheckpointDependencies> all() {
    return Stream.concat(kept.values().stream(), underWay.values().stream());
  }

  private CheckpointDependencies dependencies(long number) {
    try {
      return CheckpointDependencies.of(ManifestCodec.read(files, number));
    } catch (Corrupt e) {
      return CheckpointDependencies.ALL;
    }
  }
}
