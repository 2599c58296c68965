package io.fasterkv.checkpoint;

import io.fasterkv.api.CommitPoint;
import io.fasterkv.checkpoint.CheckpointManifest.Image;
import java.util.Collections;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/** What a store was recovered from, as far as it matters afterwards. */
public final class Recovered {
  /** A store that began empty. */
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

  static Recovered from(CheckpointManifest manifest) {
    long snapshot = manifest.log().snapshot() == null ? 0 : manifest.number();
    // An image that shares entries is no ground for a replay, and the store may have a table that
    // does not share, if it was recovered without that image.
    Image image = manifest.index().isSharing() ? null : manifest.index().image();
    return new Recovered(
        manifest.cut().version(),
        manifest.cut().points(),
        image,
        snapshot,
        // Only an import has no image at all.
        manifest.hasImage() ? 0 : manifest.cut().end());
  }

  /** The version that was committed; 0 for none. */
  public long version() {
    return version;
  }

  /** The commit point of each named session. */
  public SortedMap<String, CommitPoint> points() {
    return points;
  }

  /** The newest image of the index that later checkpoints can build on, if there is one. */
  @Nullable Image image() {
    return image;
  }

  /** The checkpoint whose snapshot it was; 0 if there was none. */
  long snapshot() {
    return snapshot;
  }

  /** Below it, the segments were made by an import, which forces none; 0 if they were not. */
  long importedUntil() {
    return importedUntil;
  }
}
