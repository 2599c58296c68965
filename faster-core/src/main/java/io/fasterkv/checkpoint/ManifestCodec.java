package io.fasterkv.checkpoint;

import io.fasterkv.api.StoreConfig.RecordKind;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.checkpoint.CheckpointManifest.IndexPart;
import io.fasterkv.checkpoint.CheckpointManifest.LogPart;
import io.fasterkv.checkpoint.CheckpointManifest.Shape;
import io.fasterkv.index.IndexImage;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.memory.Checksums;
import java.lang.foreign.MemorySegment;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A manifest as bytes, big endian; docs/FORMAT.md draws them. The last four bytes are the CRC32C of
 * all before. What is read is believed only after that, and after its numbers fit each other.
 */
final class ManifestCodec {
  /** "FASTERCK". */
  static final long MAGIC = 0x464153544552434BL;

  static final int VERSION = 1;
  private static final int FIXED_BYTES =
      Long.BYTES
          + Integer.BYTES
          + Long.BYTES // magic, version, number
          + 1
          + Integer.BYTES
          + Long.BYTES // shape
          + 2 * Long.BYTES // addresses
          + 2 * Long.BYTES
          + 2 * Integer.BYTES // index
          + Integer.BYTES // number of extents
          + Integer.BYTES; // checksum
  private static final int EXTENT_BYTES = 2 * Long.BYTES + Integer.BYTES;

  private static final long MAX_BUCKETS = 1L << 40;

  private ManifestCodec() {}

  private static byte kindCode(RecordKind kind) {
    return switch (kind) {
      case SPANS -> 0;
      case LONGS -> 1;
    };
  }

  private static RecordKind kind(byte code) {
    return switch (code) {
      case 0 -> RecordKind.SPANS;
      case 1 -> RecordKind.LONGS;
      default -> throw new IndexOutOfBoundsException("recordKind=" + code + ", allowed=0 or 1");
    };
  }

  static ByteBuffer encode(CheckpointManifest manifest) {
    IndexPart index = manifest.index();
    LogPart log = manifest.log();
    int bytes =
        FIXED_BYTES
            + index.chunkChecksums().size() * Integer.BYTES
            + log.extents().size() * EXTENT_BYTES;
    ByteBuffer out = ByteBuffer.allocate(bytes);
    out.putLong(MAGIC).putInt(VERSION).putLong(manifest.number());
    out.put(kindCode(manifest.shape().recordKind()));
    out.putInt(manifest.shape().pageBytes()).putLong(manifest.shape().segmentBytes());
    out.putLong(log.beginAddress()).putLong(log.endAddress());
    out.putLong(index.mainBuckets()).putLong(index.overflowUsed());
    out.putInt(index.chunkBytes()).putInt(index.chunkChecksums().size());
    index.chunkChecksums().forEach(out::putInt);
    out.putInt(log.extents().size());
    for (Extent extent : log.extents()) {
      out.putLong(extent.from()).putLong(extent.until()).putInt(extent.crc());
    }
    return out.putInt(Checksums.crc32c(MemorySegment.ofBuffer(out.duplicate().flip()))).flip();
  }

  /** Reads a manifest; {@code file} is for error messages. */
  static CheckpointManifest decode(ByteBuffer in, Path file) {
    int end = in.limit() - Integer.BYTES;
    if (end < FIXED_BYTES - Integer.BYTES) {
      throw new Corrupt(
          "a manifest is too short: file="
              + file
              + ", offset=0, bytes="
              + in.limit()
              + ", allowed="
              + FIXED_BYTES
              + " and above");
    }
    int found = Checksums.crc32c(MemorySegment.ofBuffer(in.slice(0, end)));
    if (in.getLong(0) != MAGIC) {
      throw new Corrupt("not a manifest: file=" + file + ", offset=0");
    }
    if (in.getInt(Long.BYTES) != VERSION) {
      throw new Corrupt(
          "a manifest of another version: file="
              + file
              + ", offset=8, version="
              + in.getInt(Long.BYTES)
              + ", allowed="
              + VERSION
              + "; read it with the release that wrote it");
    }
    if (found != in.getInt(end)) {
      throw new Corrupt("a manifest's checksum is wrong: file=" + file + ", offset=" + end);
    }
    try {
      return checked(fields(in), file);
    } catch (BufferUnderflowException | IndexOutOfBoundsException e) {
      throw new Corrupt("a manifest ends early: file=" + file + ", offset=" + in.position(), e);
    }
  }

  private static CheckpointManifest fields(ByteBuffer in) {
    in.position(Long.BYTES + Integer.BYTES);
    long number = in.getLong();
    RecordKind kind = kind(in.get());
    Shape shape = new Shape(kind, in.getInt(), in.getLong());
    long begin = in.getLong();
    long end = in.getLong();
    long mainBuckets = in.getLong();
    long overflowUsed = in.getLong();
    int chunkBytes = in.getInt();
    List<Integer> checksums = new ArrayList<>();
    for (int left = in.getInt(); left > 0; left--) {
      checksums.add(in.getInt());
    }
    List<Extent> extents = new ArrayList<>();
    for (int left = in.getInt(); left > 0; left--) {
      extents.add(new Extent(in.getLong(), in.getLong(), in.getInt()));
    }
    return new CheckpointManifest(
        number,
        shape,
        new LogPart(begin, end, extents),
        new IndexPart(mainBuckets, overflowUsed, chunkBytes, checksums));
  }

  private static CheckpointManifest checked(CheckpointManifest manifest, Path file) {
    LogPart log = manifest.log();
    IndexPart index = manifest.index();
    boolean isOrdered = log.beginAddress() >= 0 && log.beginAddress() <= log.endAddress();
    boolean hasBuckets =
        index.mainBuckets() > 0
            && index.mainBuckets() <= MAX_BUCKETS
            && index.overflowUsed() >= 0
            && index.overflowUsed() <= MAX_BUCKETS
            && index.chunkBytes() >= IndexImage.BUCKET_BYTES
            && index.chunkChecksums().size()
                == Math.ceilDiv(index.buckets() * IndexImage.BUCKET_BYTES, index.chunkBytes());
    if (!isOrdered || !hasBuckets || !areContiguous(log, manifest.shape().pageBytes())) {
      throw new Corrupt("a manifest's numbers do not fit each other: file=" + file + ", offset=20");
    }
    return manifest;
  }

  private static boolean areContiguous(LogPart log, int pageBytes) {
    if (Integer.bitCount(pageBytes) != 1) {
      return false;
    }
    if (log.extents().isEmpty()) {
      return log.endAddress() == log.beginAddress();
    }
    long at = log.extents().getFirst().from();
    if (at > log.beginAddress()) {
      return false;
    }
    for (Extent extent : log.extents()) {
      boolean isOnOnePage = extent.from() / pageBytes == (extent.until() - 1) / pageBytes;
      if (extent.from() != at || extent.until() <= at || !isOnOnePage) {
        return false;
      }
      at = extent.until();
    }
    return at == log.endAddress();
  }
}
