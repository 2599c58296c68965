package io.fasterkv.checkpoint.manifest;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CommitPoint;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.Image;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.IndexPart;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.LogPart;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.Shape;
import io.fasterkv.device.file.ReopeningFile;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.log.VoidRanges.VoidRange;
import io.fasterkv.memory.Checksums;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Encodes and decodes manifests, big endian; docs/FORMAT.md draws their bytes. The last four bytes
 * are the CRC32C of all bytes before them. Decoded values are used only after the checksum and
 * {@link ManifestRules} have been checked.
 */
public final class ManifestCodec {
  /** "FASTERCK". */
  static final long MAGIC = 0x464153544552434BL;

  static final int VERSION = 6;

  /** Kinds by their code in a manifest. */
  private static final CheckpointKind[] KINDS = {
    CheckpointKind.FOLD_OVER,
    CheckpointKind.SNAPSHOT,
    CheckpointKind.INCREMENTAL_SNAPSHOT,
    CheckpointKind.INDEX_ONLY
  };

  private static final RecordKind[] RECORDS = {RecordKind.SPANS, RecordKind.LONGS};

  /** Magic, version and number: an error about the rest refers to the position after them. */
  private static final int HEADER_BYTES = Long.BYTES + Integer.BYTES + Long.BYTES;

  /** Maximum length of a manifest: each page takes 20 bytes, and a buffer's length has 31 bits. */
  private static final long MAX_BYTES = 1L << 30;

  private ManifestCodec() {}

  /**
   * Encodes a manifest. The length is computed before the buffer is allocated.
   *
   * @throws BadConfig if it would be too long for {@link #read}
   */
  public static ByteBuffer encode(CheckpointManifest manifest) {
    ManifestBytes measured = ManifestBytes.counted(MAX_BYTES - Integer.BYTES);
    write(manifest, measured);
    ByteBuffer all = ByteBuffer.allocate((int) measured.count() + Integer.BYTES);
    write(manifest, ManifestBytes.into(all));
    int crc = Checksums.crc32c(MemorySegment.ofBuffer(all.duplicate().flip()));
    return all.putInt(crc).flip();
  }

  private static void write(CheckpointManifest manifest, ManifestBytes bytes) {
    try (var out = new DataOutputStream(bytes)) {
      out.writeLong(MAGIC);
      out.writeInt(VERSION);
      out.writeLong(manifest.number());
      out.writeByte(List.of(KINDS).indexOf(manifest.kind()));
      out.writeByte(List.of(RECORDS).indexOf(manifest.shape().recordKind()));
      out.writeInt(manifest.shape().pageBytes());
      out.writeLong(manifest.shape().segmentBytes());
      write(manifest.cut(), out);
      write(manifest.index(), out);
      write(manifest.log(), out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void write(VersionCut cut, DataOutputStream out) throws IOException {
    out.writeLong(cut.version());
    out.writeLong(cut.begin());
    out.writeLong(cut.start());
    out.writeLong(cut.end());
    out.writeInt(cut.points().size());
    for (Map.Entry<String, CommitPoint> session : cut.points().entrySet()) {
      byte[] name = session.getKey().getBytes(UTF_8);
      out.writeInt(name.length);
      out.write(name);
      write(session.getValue(), out);
    }
  }

  private static void write(CommitPoint point, DataOutputStream out) throws IOException {
    out.writeLong(point.serial());
    out.writeInt(point.excluded().size());
    for (long serial : point.excluded()) {
      out.writeLong(serial);
    }
  }

  private static void write(IndexPart index, DataOutputStream out) throws IOException {
    out.writeLong(index.mainBuckets());
    out.writeLong(index.tagBase());
    out.writeLong(index.overflowUsed());
    out.writeByte(index.isSharing() ? 1 : 0);
    Image image = index.image();
    out.writeLong(image == null ? 0 : image.of());
    if (image != null) {
      out.writeLong(image.start());
      out.writeLong(image.overflowUsed());
      out.writeInt(image.chunkBytes());
      out.writeInt(image.chunkChecksums().size());
      for (int crc : image.chunkChecksums()) {
        out.writeInt(crc);
      }
    }
  }

  private static void write(LogPart log, DataOutputStream out) throws IOException {
    out.writeInt(log.extents().size());
    for (Extent extent : log.extents()) {
      out.writeLong(extent.from());
      out.writeLong(extent.until());
      out.writeInt(extent.crc());
    }
    out.writeInt(log.voids().size());
    for (VoidRange range : log.voids()) {
      out.writeLong(range.from());
      out.writeLong(range.until());
      out.writeByte(range.version());
    }
    byte[] heat = new byte[log.heat().remaining()];
    log.heat().duplicate().get(heat);
    out.writeInt(heat.length);
    out.write(heat);
    SnapshotBlocks snapshot = log.snapshot();
    out.writeInt(snapshot == null ? 0 : snapshot.blockBytes());
    if (snapshot != null) {
      out.writeLong(snapshot.from());
      out.writeLong(snapshot.until());
      for (int block = 0; block < snapshot.count(); block++) {
        out.writeLong(snapshot.owner(block));
        out.writeLong(snapshot.position(block));
        out.writeInt(snapshot.crc(block));
        out.writeInt(snapshot.otherCrc(block));
      }
    }
  }

  /** Reads the manifest of a checkpoint. */
  public static CheckpointManifest read(CheckpointFiles files, long number) {
    Path file = files.manifest(number);
    CheckpointManifest manifest;
    try {
      manifest = decode(readAll(file), file);
    } catch (IOException e) {
      throw new Corrupt("a manifest cannot be read: file=" + file + ", cause=" + e, e);
    }
    if (manifest.number() != number) {
      throw new Corrupt(
          "a manifest is another checkpoint's: file="
              + file
              + ", offset=12, number="
              + manifest.number());
    }
    return manifest;
  }

  private static ByteBuffer readAll(Path path) throws IOException {
    try (ReopeningFile file = ReopeningFile.open(path)) {
      long bytes = file.size();
      if (bytes > MAX_BYTES) {
        throw new Corrupt(
            "a manifest is too long: file="
                + path
                + ", offset=0, bytes="
                + bytes
                + ", allowed=up to "
                + MAX_BYTES);
      }
      byte[] all = new byte[(int) bytes];
      file.readFully(MemorySegment.ofArray(all), 0);
      return ByteBuffer.wrap(all);
    }
  }

  /** Reads a manifest; {@code file} is for error messages. */
  public static CheckpointManifest decode(ByteBuffer in, Object file) {
    CheckpointManifest manifest = decodeFields(in, file);
    ManifestRules.check(manifest, file);
    return manifest;
  }

  /** Like {@link #decode}, for a manifest whose extents are stored elsewhere. */
  public static CheckpointManifest decodeHead(ByteBuffer in, Object file) {
    CheckpointManifest manifest = decodeFields(in, file);
    ManifestRules.checkHead(manifest, file);
    return manifest;
  }

  private static CheckpointManifest decodeFields(ByteBuffer in, Object file) {
    int end = in.limit() - Integer.BYTES;
    if (end < HEADER_BYTES) {
      throw new Corrupt(
          "a manifest is too short: file=" + file + ", offset=0, bytes=" + in.limit());
    }
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
    if (Checksums.crc32c(MemorySegment.ofBuffer(in.slice(0, end))) != in.getInt(end)) {
      throw new Corrupt("a manifest's checksum is wrong: file=" + file + ", offset=" + end);
    }
    try {
      return fields(in.slice(0, end));
    } catch (BufferUnderflowException | IndexOutOfBoundsException | IllegalArgumentException e) {
      throw new Corrupt(
          "a manifest's numbers are out of range: file="
              + file
              + ", offset="
              + HEADER_BYTES
              + " and above, cause="
              + e,
          e);
    }
  }

  private static CheckpointManifest fields(ByteBuffer in) {
    in.position(Long.BYTES + Integer.BYTES);
    long number = in.getLong();
    CheckpointKind kind = KINDS[checkedCode(in.get(), KINDS.length)];
    RecordKind records = RECORDS[checkedCode(in.get(), RECORDS.length)];
    Shape shape = new Shape(records, in.getInt(), in.getLong());
    VersionCut cut = cut(in);
    IndexPart index = index(in);
    LogPart log = log(in, kind);
    if (in.hasRemaining()) {
      throw new IllegalArgumentException("bytes follow the last field: offset=" + in.position());
    }
    return new CheckpointManifest(number, kind, shape, cut, log, index);
  }

  private static int checkedCode(byte code, int count) {
    if (code < 0 || code >= count) {
      throw new IllegalArgumentException("code=" + code + ", allowed=0 to " + (count - 1));
    }
    return code;
  }

  private static VersionCut cut(ByteBuffer in) {
    long version = in.getLong();
    long begin = in.getLong();
    long start = in.getLong();
    long end = in.getLong();
    SortedMap<String, CommitPoint> points = new TreeMap<>();
    for (int left = count(in, 2 * Integer.BYTES + Long.BYTES); left > 0; left--) {
      byte[] name = new byte[count(in, 1)];
      in.get(name);
      points.put(new String(name, UTF_8), point(in));
    }
    return new VersionCut(version, begin, start, end, points);
  }

  private static CommitPoint point(ByteBuffer in) {
    long serial = in.getLong();
    List<Long> excluded = new ArrayList<>();
    for (int left = count(in, Long.BYTES); left > 0; left--) {
      excluded.add(in.getLong());
    }
    return new CommitPoint(serial, excluded);
  }

  private static IndexPart index(ByteBuffer in) {
    long mainBuckets = in.getLong();
    long tagBase = in.getLong();
    long overflowUsed = in.getLong();
    boolean isSharing = checkedCode(in.get(), 2) == 1;
    long of = in.getLong();
    if (of == 0) {
      return new IndexPart(mainBuckets, tagBase, overflowUsed, isSharing, null);
    }
    long start = in.getLong();
    long overflowInImage = in.getLong();
    int chunkBytes = in.getInt();
    List<Integer> checksums = new ArrayList<>();
    for (int left = count(in, Integer.BYTES); left > 0; left--) {
      checksums.add(in.getInt());
    }
    return new IndexPart(
        mainBuckets,
        tagBase,
        overflowUsed,
        isSharing,
        new Image(of, start, overflowInImage, chunkBytes, List.copyOf(checksums)));
  }

  private static LogPart log(ByteBuffer in, CheckpointKind kind) {
    List<Extent> extents = new ArrayList<>();
    for (int left = count(in, 2 * Long.BYTES + Integer.BYTES); left > 0; left--) {
      extents.add(new Extent(in.getLong(), in.getLong(), in.getInt()));
    }
    List<VoidRange> voids = new ArrayList<>();
    for (int left = count(in, 2 * Long.BYTES + 1); left > 0; left--) {
      voids.add(new VoidRange(in.getLong(), in.getLong(), in.get()));
    }
    byte[] heat = new byte[count(in, 1)];
    in.get(heat);
    int blockBytes = in.getInt();
    @Nullable SnapshotBlocks blocks = blockBytes == 0 ? null : blocks(in, blockBytes);
    return new LogPart(
        List.copyOf(extents), blocks, List.copyOf(voids), ByteBuffer.wrap(heat).asReadOnlyBuffer());
  }

  private static SnapshotBlocks blocks(ByteBuffer in, int blockBytes) {
    long from = in.getLong();
    long until = in.getLong();
    if (Integer.bitCount(blockBytes) != 1 || from < 0 || from > until) {
      throw new IllegalArgumentException(
          "blockBytes=" + blockBytes + ", from=" + from + ", until=" + until);
    }
    long count = SnapshotBlocks.count(from, until, blockBytes);
    if (count > in.remaining() / SnapshotBlocks.ENTRY_BYTES) {
      throw new IllegalArgumentException("blocks=" + count + ", bytes=" + in.remaining());
    }
    SnapshotBlocks blocks = new SnapshotBlocks(from, until, blockBytes);
    for (int block = 0; block < count; block++) {
      blocks.set(block, in.getLong(), in.getLong(), in.getInt(), in.getInt());
    }
    return blocks;
  }

  /**
   * Reads a number of items that take at least {@code leastBytes} each; refuses more than there are
   * bytes for.
   */
  private static int count(ByteBuffer in, int leastBytes) {
    int count = in.getInt();
    if (count < 0 || count > in.remaining() / leastBytes) {
      throw new IllegalArgumentException(
          "count=" + count + ", offset=" + in.position() + ", bytes=" + in.remaining());
    }
    return count;
  }
}
