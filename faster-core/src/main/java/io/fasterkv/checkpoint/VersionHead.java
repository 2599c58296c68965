package io.fasterkv.checkpoint;

import io.fasterkv.checkpoint.CheckpointManifest.LogPart;
import io.fasterkv.index.IndexImage;
import io.fasterkv.log.VoidRanges.VoidRange;
import java.nio.ByteBuffer;
import java.util.List;

/** What a {@link VersionExport} says of a version besides its log. */
public final class VersionHead {
  private final CheckpointManifest manifest;

  private VersionHead(CheckpointManifest manifest) {
    this.manifest = manifest;
  }

  /**
   * Reads it.
   *
   * @param file where the bytes come from, for error messages
   * @throws io.fasterkv.api.StoreException.Corrupt if they are not what was written
   */
  public static VersionHead read(byte[] bytes, String file) {
    return new VersionHead(ManifestCodec.decodeHead(ByteBuffer.wrap(bytes), file));
  }

  /** Of the log up to an address: what is void in it stays so, and nothing is behind it. */
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
            new LogPart(List.of(), null, voids),
            manifest.index()));
  }

  CheckpointManifest manifest() {
    return manifest;
  }

  public long begin() {
    return manifest.cut().begin();
  }

  public long end() {
    return manifest.cut().end();
  }

  public int pageBytes() {
    return manifest.shape().pageBytes();
  }

  public long segmentBytes() {
    return manifest.shape().segmentBytes();
  }

  public long usedIndexBytes() {
    return leastIndexBytes() + manifest.index().overflowUsed() * IndexImage.BUCKET_BYTES;
  }

  public boolean hasSharedEntries() {
    return manifest.index().isSharing();
  }

  public long leastIndexBytes() {
    return manifest.index().mainBuckets() * IndexImage.BUCKET_BYTES;
  }
}
