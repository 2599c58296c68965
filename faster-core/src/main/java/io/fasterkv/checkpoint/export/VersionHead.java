package io.fasterkv.checkpoint.export;

import io.fasterkv.checkpoint.manifest.CheckpointManifest;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.LogPart;
import io.fasterkv.checkpoint.manifest.ManifestCodec;
import io.fasterkv.checkpoint.manifest.VersionCut;
import io.fasterkv.index.IndexImage;
import io.fasterkv.log.HeatMap;
import io.fasterkv.log.VoidRanges.VoidRange;
import io.fasterkv.spi.StoreImport;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/** What a {@link VersionExport} contains besides its log. */
public final class VersionHead implements StoreImport {
  private final CheckpointManifest manifest;

  private VersionHead(CheckpointManifest manifest) {
    this.manifest = manifest;
  }

  /**
   * Reads the head of a version.
   *
   * @param file the source of the bytes, for error messages
   * @throws io.fasterkv.api.StoreException.Corrupt if they are damaged
   */
  public static VersionHead read(byte[] bytes, String file) {
    return new VersionHead(ManifestCodec.decodeHead(ByteBuffer.wrap(bytes), file));
  }

  /** The void ranges of the shorter log stay void. */
  @Override
  public VersionHead until(long end) {
    VersionCut cut = manifest.cut();
    if (end < cut.begin() || end > cut.end()) {
      throw new IllegalArgumentException(
          "the end is out of range: end=" + end + ", allowed=" + cut.begin() + " to " + cut.end());
    }
    List<VoidRange> voids =
        manifest.voidsAfterRecovery().stream()
            .filter(range -> range.from() < end)
            .map(
                range -> new VoidRange(range.from(), Math.min(range.until(), end), range.version()))
            .toList();
    return new VersionHead(
        new CheckpointManifest(
            manifest.number(),
            manifest.kind(),
            manifest.shape(),
            new VersionCut(cut.version(), cut.begin(), end, end, cut.points()),
            new LogPart(List.of(), null, voids, heatUntil(end)),
            manifest.index()));
  }

  private ByteBuffer heatUntil(long end) {
    ByteBuffer heat = manifest.log().heat();
    long stretches = HeatMap.stretches(manifest.cut().begin(), end);
    return heat.slice(0, (int) Math.min(heat.remaining(), stretches));
  }

  CheckpointManifest manifest() {
    return manifest;
  }

  @Override
  public Target into(Path directory) {
    return new CheckpointImport(directory, manifest);
  }

  @Override
  public Records records() {
    return new VersionRecords(manifest);
  }

  @Override
  public long beginAddress() {
    return manifest.cut().begin();
  }

  @Override
  public long endAddress() {
    return manifest.cut().end();
  }

  @Override
  public int pageBytes() {
    return manifest.shape().pageBytes();
  }

  @Override
  public long segmentBytes() {
    return manifest.shape().segmentBytes();
  }

  @Override
  public long usedIndexBytes() {
    return leastIndexBytes() + manifest.index().overflowUsed() * IndexImage.BUCKET_BYTES;
  }

  @Override
  public boolean hasSharedEntries() {
    return manifest.index().isSharing();
  }

  @Override
  public long leastIndexBytes() {
    return manifest.index().mainBuckets() * IndexImage.BUCKET_BYTES;
  }
}
