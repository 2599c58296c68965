package io.fasterkv.checkpoint;

import io.fasterkv.api.CheckpointToken;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.device.DurableFiles;
import io.fasterkv.log.HybridLog;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The checkpoints of a store, and what they need. A checkpoint stays until its owner removes it; it
 * keeps the log's storage from its begin on, and the files of older checkpoints that it builds on,
 * also when these are removed themselves. Safe for all threads.
 */
public final class KeptCheckpoints {
  private final CheckpointFiles files;
  private final HybridLog log;

  /** What each checkpoint needs, by its number. */
  private final TreeMap<Long, Needs> kept = new TreeMap<>();

  /** The same, of those that are being written. */
  private final TreeMap<Long, Needs> underWay = new TreeMap<>();

  /** No number is used twice while the store is open. */
  private long lastNumber;

  /** Finds the checkpoints that the store's directory has. */
  public KeptCheckpoints(StoreConfig config, HybridLog log) {
    this.log = log;
    files = new CheckpointFiles(config.directory());
    for (long number : files.complete()) {
      Needs needs = needs(number);
      log.holds().retain(needs.deviceFrom());
      kept.put(number, needs);
      lastNumber = number;
    }
    // What the last owner of the directory had no time to give back.
    log.holds().giveBack();
    sweep();
  }

  /** All checkpoints, oldest first. */
  public synchronized List<CheckpointToken> tokens() {
    return kept.keySet().stream().map(CheckpointToken::new).toList();
  }

  /**
   * Removes a checkpoint, and then what only it needed. The manifest goes first, durably: a power
   * cut leaves the checkpoint whole or gone.
   */
  public synchronized void remove(CheckpointToken token) {
    Needs needs = kept.get(token.number());
    if (needs == null) {
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
      log.holds().release(needs.deviceFrom());
    }
  }

  /** The number for the next checkpoint. */
  synchronized long nextNumber() {
    return lastNumber + 1;
  }

  /**
   * Keeps what a checkpoint needs that is going to be written; false, and nothing is kept, if a
   * file of an older checkpoint is no longer there.
   */
  synchronized boolean begin(long number, Needs needs) {
    boolean hasImage =
        needs.image() == 0 || needs.image() == number || Files.exists(files.index(needs.image()));
    boolean hasSnapshots =
        needs.snapshots().stream()
            .allMatch(one -> one == number || Files.exists(files.snapshot(one)));
    if (hasImage && hasSnapshots) {
      log.holds().retain(needs.deviceFrom());
      underWay.put(number, needs);
    }
    return hasImage && hasSnapshots;
  }

  /** Tells that the manifest is going to be moved into place, and what exactly it needs. */
  synchronized void publishing(long number, Needs exactly) {
    underWay.put(number, exactly);
    lastNumber = Math.max(lastNumber, number);
  }

  /**
   * Ends {@link #begin}: the checkpoint is kept if it has come into being, whether or not that was
   * noticed. Else it is forgotten, and its files are removed as far as that works: the disk may
   * have been full of them.
   */
  synchronized void end(long number) {
    Needs needs = underWay.remove(number);
    if (needs == null) {
      return;
    }
    if (Files.exists(files.manifest(number))) {
      kept.put(number, needs);
    } else {
      files.removeUnfinished(number);
      log.holds().release(needs.deviceFrom());
    }
  }

  /** Removes the images and snapshots that nobody needs. */
  private void sweep() {
    try {
      files.sweep(
          number -> all().anyMatch(needs -> needs.needsIndex(number)),
          number -> all().anyMatch(needs -> needs.needsSnapshot(number)));
    } catch (IOException e) {
      throw new DeviceFailed("old files could not be removed: " + e.getMessage(), e);
    }
  }

  private Stream<Needs> all() {
    return Stream.concat(kept.values().stream(), underWay.values().stream());
  }

  private Needs needs(long number) {
    try {
      return Needs.of(ManifestCodec.read(files, number));
    } catch (Corrupt e) {
      return Needs.ALL;
    }
  }
}
