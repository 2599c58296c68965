package io.fasterkv.checkpoint;

import java.util.Set;

/**
 * What must stay as long as a checkpoint does.
 *
 * @param deviceFrom the log's device from here on
 * @param image the checkpoint whose image of the index it needs; 0 for none
 * @param snapshots the checkpoints whose snapshot files it needs
 * @param isKnown false when its manifest cannot be read: then it may need anything
 */
record Needs(long deviceFrom, long image, Set<Long> snapshots, boolean isKnown) {
  /** Of a checkpoint whose manifest cannot be read. */
  static final Needs ALL = new Needs(0, 0, Set.of(), false);

  static Needs of(CheckpointManifest manifest) {
    var image = manifest.index().image();
    return new Needs(
        manifest.deviceFrom(), image == null ? 0 : image.of(), manifest.snapshotOwners(), true);
  }

  boolean needsIndex(long number) {
    return !isKnown || image == number;
  }

  boolean needsSnapshot(long number) {
    return !isKnown || snapshots.contains(number);
  }
}
