package io.fasterkv.checkpoint.manifest;

import io.fasterkv.api.checkpoint.CommitPoint;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.Image;
import java.util.Collections;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/** What later checkpoints must know about the checkpoint that a store was recovered from. */
public final class Recovered {
  /** For a new store. */
  public static final Recovered NOTHING =
      new Recovered(0, Collections.emptySortedMap(), null, 0, 0);

  private final long version;
  private final SortedMap<String, CommitPoint> points;
  private final @Nullable Image image;
  private final long snapshot;
  private final long importedUntil;

  private Recovered(
      long version,
      SortedMap<String, CommitPoint> points,
      @Nullable Image image,
      long snapshot,
      long importedUntil) {
    this.version = version;
    this.points = points;
    this.image = image;
    this.snapshot = snapshot;
    this.importedUntil = importedUntil;
  }

  public static Recovered from(CheckpointManifest manifest) {
    long snapshot = manifest.log().snapshot() == null ? 0 : manifest.number();
    // A replay cannot start from an image that shares entries; and if the store was recovered
    // without that image, its table may not share.
    Image image = manifest.index().isSharing() ? null : manifest.index().image();
    return new Recovered(
        manifest.cut().version(),
        manifest.cut().points(),
        image,
        snapshot,
        // Only a checkpoint from an import has no image.
        manifest.hasImage() ? 0 : manifest.cut().end());
  }

  /** The committed version; 0 for none. */
  public long version() {
    return version;
  }

  /** The commit point of each named session. */
  public SortedMap<String, CommitPoint> points() {
    return points;
  }

  /** The newest image of the index that later checkpoints can build on, if there is one. */
  public @Nullable Image image() {
    return image;
  }

  /** The checkpoint if it had a snapshot; otherwise 0. */
  public long snapshot() {
    return snapshot;
  }

  /** An import wrote the segments below this address without forcing them; 0 if none did. */
  public long importedUntil() {
    return importedUntil;
  }
}
