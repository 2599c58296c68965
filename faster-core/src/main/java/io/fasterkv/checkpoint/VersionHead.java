package io.fasterkv.checkpoint;

import io.fasterkv.index.IndexImage;
import java.nio.ByteBuffer;

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
