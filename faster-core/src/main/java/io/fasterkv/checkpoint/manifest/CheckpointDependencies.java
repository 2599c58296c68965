package io.fasterkv.checkpoint.manifest;

import java.util.Set;

/**
 * What must be kept for a checkpoint.
 *
 * @param deviceFrom the log on the device from this address on
 * @param image the checkpoint whose image of the index it needs; 0 for none
 * @param snapshots the checkpoints whose snapshot files it needs
 * @param isKnown false if its manifest cannot be read, so that it may need anything
 */
public record CheckpointDependencies(
    long deviceFrom, long image, Set<Long> snapshots, boolean isKnown) {
  /** The needs of a checkpoint whose manifest cannot be read. */
  public static final CheckpointDependencies ALL =
      new CheckpointDependencies(0, 0, Set.of(), false);

  public static CheckpointDependencies of(CheckpointManifest manifest) {
    var image = manifest.index().image();
    return new CheckpointDependencies(
        manifest.deviceFrom(), image == null ? 0 : image.of(), manifest.snapshotOwners(), true);
  }

  public boolean needsIndex(long number) {
    return !isKnown || image == number;
  }

  public boolean needsSnapshot(long number) {
    return !isKnown || snapshots.contains(number);
  }
}
