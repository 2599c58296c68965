package io.fasterkv.checkpoint.inspect;

import io.fasterkv.checkpoint.export.ExtentWalk;
import io.fasterkv.checkpoint.export.PieceWalk;
import io.fasterkv.log.FlushedExtents.Extent;

/**
 * Iterates over the records of a checkpoint, as {@link ExtentWalk} does over those of an extent.
 */
final class RecordWalk {
  private final CheckpointImage image;

  RecordWalk(CheckpointImage image) {
    this.image = image;
  }

  void run(PieceWalk.Visitor visitor) {
    ExtentWalk walk = new ExtentWalk(image.manifest());
    for (Extent extent : image.extents()) {
      if (walk.isWanted(extent.until())) {
        walk.run(extent.from(), image.read(extent), image::place, visitor);
      }
    }
  }
}
