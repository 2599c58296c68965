package io.fasterkv.checkpoint.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CommitPoint;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.Image;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.IndexPart;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.LogPart;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.Shape;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.log.VoidRanges.VoidRange;
import io.fasterkv.memory.Checksums;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ManifestCodecTest {
  private static final Path FILE = Path.of("checkpoint-7.manifest");
  private static final int PAGE_BYTES = 1024;
  private static final List<Extent> EXTENTS =
      List.of(new Extent(0, 1024, 11), new Extent(1024, 1536, -12), new Extent(1536, 2048, 13));
  private static final SortedMap<String, CommitPoint> POINTS =
      new TreeMap<>(
          Map.of(
              "reader",
              CommitPoint.NONE,
              "writer \u00fc",
              new CommitPoint(1L << 40, List.of(7L, 1L << 39, 1L << 40))));
  private static final VersionCut CUT = new VersionCut(70, 64, 1800, 2048, POINTS);
  private static final List<VoidRange> VOIDS = List.of(new VoidRange(100, 200, 63));
  private static final LogPart LOG = new LogPart(EXTENTS, null, VOIDS, heat(200));
  private static final IndexPart INDEX =
      new IndexPart(6, 6, 2, false, new Image(5, 900, 1, 256, List.of(1, -2)));
  private static final IndexPart INDEX_OF_THE_START =
      new IndexPart(6, 6, 2, false, new Image(5, 64, 1, 256, List.of(1, -2)));

  @ParameterizedTest
  @EnumSource
  void aManifestIsDecodedUnchanged(RecordKind kind) {
    assertComesBack(manifest(kind, LOG, INDEX));
  }

  @Test
  void anEmptyLogIsDecodedUnchanged() {
    VersionCut cut = new VersionCut(1, 64, 64, 64, new TreeMap<>());
    LogPart log = new LogPart(List.of(), null, List.of());
    assertComesBack(manifest(CheckpointKind.FOLD_OVER, cut, log, INDEX_OF_THE_START));
  }

  @Test
  void aSnapshotIsDecodedUnchanged() {
    assertComesBack(snapshot(blocks(1024, 2048)));
    assertComesBack(snapshot(blocks(2048, 2048)));
  }

  @Test
  void anIndexAloneIsDecodedUnchanged() {
    IndexPart own = new IndexPart(6, 6, 2, true, new Image(7, 900, 1, 256, List.of(1, -2)));
    assertComesBack(manifest(CheckpointKind.INDEX_ONLY, CUT, LogPart.NONE, own));
  }

  @Test
  void aLogWithoutAnyImageIsDecodedUnchanged() {
    assertComesBack(manifest(RecordKind.LONGS, LOG, new IndexPart(6, 6, 2, false, null)));
  }

  /** The bytes in docs/FORMAT.md. */
  @Test
  void followsTheFormat() {
    CheckpointManifest manifest =
        new CheckpointManifest(
            1,
            CheckpointKind.FOLD_OVER,
            new Shape(RecordKind.SPANS, 4096, 32768),
            new VersionCut(1, 64, 64, 4096, new TreeMap<>()),
            new LogPart(List.of(new Extent(0, 4096, 0x22222222)), null, List.of(), heat(1)),
            new IndexPart(3, 3, 0, false, new Image(1, 64, 0, 4096, List.of(0x11111111))));
    String expected =
        """
        46 41 53 54 45 52 43 4b  00 00 00 06  00 00 00 00 00 00 00 01
        00 00  00 00 10 00  00 00 00 00 00 00 80 00
        00 00 00 00 00 00 00 01
        00 00 00 00 00 00 00 40  00 00 00 00 00 00 00 40
        00 00 00 00 00 00 10 00  00 00 00 00
        00 00 00 00 00 00 00 03  00 00 00 00 00 00 00 03
        00 00 00 00 00 00 00 00  00
        00 00 00 00 00 00 00 01  00 00 00 00 00 00 00 40
        00 00 00 00 00 00 00 00  00 00 10 00  00 00 00 01  11 11 11 11
        00 00 00 01
        00 00 00 00 00 00 00 00  00 00 00 00 00 00 10 00  22 22 22 22
        00 00 00 00  00 00 00 01  01
        00 00 00 00
        """;
    String found = HexFormat.of().formatHex(bytes(manifest));
    assertThat(found.substring(0, found.length() - 2 * Integer.BYTES))
        .isEqualTo(expected.replaceAll("\\s", ""));
  }

  @Test
  void everyFlippedBitIsRefused() {
    byte[] good = bytes(manifest(RecordKind.SPANS, LOG, INDEX));
    for (int bit = 0; bit < good.length * Byte.SIZE; bit++) {
      byte[] bad = good.clone();
      bad[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      assertRefused(bad, "bit=" + bit);
    }
  }

  @Test
  void everyTruncationIsRefused() {
    byte[] good = bytes(manifest(RecordKind.SPANS, LOG, INDEX));
    for (int length = 0; length < good.length; length++) {
      assertRefused(Arrays.copyOf(good, length), "length=" + length);
    }
  }

  @Test
  void bytesThatFollowAreRefused() {
    byte[] good = bytes(manifest(RecordKind.SPANS, LOG, INDEX));
    assertRefused(Arrays.copyOf(good, good.length + 4), "longer");
  }

  @Test
  void wrongNumbersWithAMatchingChecksumAreCorrupt() {
    List<CheckpointManifest> all =
        List.of(manifest(RecordKind.SPANS, LOG, INDEX), snapshot(blocks(1024, 2048)));
    for (CheckpointManifest manifest : all) {
      byte[] good = bytes(manifest);
      for (int at = 0; at < good.length - Integer.BYTES; at++) {
        for (int value : new int[] {0, 1, 0x7F, 0x80, 0xFF}) {
          byte[] forged = good.clone();
          forged[at] = (byte) value;
          seal(forged);
          decodeOrCorrupt(forged, "offset=" + at + ", value=" + value);
        }
      }
    }
  }

  /** With 20 bytes for each page, there are more than a gibibyte. */
  @Tag("slow")
  @Test
  void aManifestThatCouldNotBeReadIsNotWritten() {
    LogPart log = new LogPart(Collections.nCopies(54_000_000, EXTENTS.get(0)), null, VOIDS);
    CheckpointManifest manifest = manifest(RecordKind.SPANS, log, INDEX);
    assertThatThrownBy(() -> ManifestCodec.encode(manifest))
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining("allowed=up to " + ((1 << 30) - Integer.BYTES))
        .hasMessageContaining("compact or truncate the log");
  }

  @Test
  void numbersThatDoNotFitEachOtherAreRefused() {
    assertMisfit(log(EXTENTS.get(0), EXTENTS.get(2)), INDEX);
    assertMisfit(log(EXTENTS.get(0), EXTENTS.get(1)), INDEX);
    assertMisfit(log(new Extent(0, 2048, 1)), INDEX);
    assertMisfit(log(EXTENTS.get(1), EXTENTS.get(2)), INDEX);
    assertMisfit(log(), INDEX);
    assertMisfit(new LogPart(EXTENTS, null, List.of(new VoidRange(100, 2049, 1))), INDEX);
    assertMisfit(new LogPart(EXTENTS, blocks(1024, 2048), VOIDS), INDEX);
    assertMisfit(new LogPart(EXTENTS, null, VOIDS, heat(1, 2)), INDEX);
    assertMisfit(LOG, new IndexPart(6, 0, 2, false, new Image(5, 900, 1, 256, List.of(1))));
    assertMisfit(LOG, new IndexPart(0, 6, 2, false, new Image(5, 900, 1, 256, List.of(1))));
    assertMisfit(LOG, new IndexPart(6, 6, 2, false, new Image(5, 900, 1, 256, List.of(1))));
    assertMisfit(LOG, new IndexPart(6, 6, 2, false, new Image(5, 900, -1, 256, List.of(1, 2))));
    assertMisfit(LOG, new IndexPart(6, 6, 2, false, new Image(5, 900, 3, 256, List.of(1, 2, 3))));
    assertMisfit(LOG, new IndexPart(6, 6, 2, false, new Image(8, 900, 1, 256, List.of(1, 2))));
    assertMisfit(LOG, new IndexPart(6, 6, 2, false, new Image(5, 2049, 1, 256, List.of(1, 2))));
    assertMisfit(
        LOG, new IndexPart(6, 6, 2, false, new Image(5, 900, 1, 100, List.of(1, 2, 3, 4, 5))));
  }

  @Test
  void snapshotsThatDoNotFitTheLogAreRefused() {
    assertRefused(bytes(snapshot(blocks(1100, 2048))), "not at an extent");
    assertRefused(bytes(snapshot(blocks(1024, 1536))), "not up to the end");
    SnapshotBlocks later = blocks(1024, 2048);
    later.set(1, 8, 0, 1, 2);
    assertRefused(bytes(snapshot(later)), "of a later checkpoint");
    SnapshotBlocks below = blocks(1024, 2048);
    below.set(1, 7, -8, 1, 2);
    assertRefused(bytes(snapshot(below)), "at a negative position");
    assertRefused(
        bytes(manifest(CheckpointKind.SNAPSHOT, CUT, LOG, INDEX)), "a snapshot without blocks");
  }

  @Test
  void operationsThatAPointCannotExcludeAreRefused() {
    for (List<Long> excluded :
        List.of(List.of(0L), List.of(-1L), List.of(11L), List.of(3L, 3L), List.of(4L, 3L))) {
      var points = new TreeMap<>(Map.of("writer", new CommitPoint(10, excluded)));
      VersionCut cut = new VersionCut(70, 64, 1800, 2048, points);
      assertRefused(bytes(manifest(CheckpointKind.FOLD_OVER, cut, LOG, INDEX)), "" + excluded);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 9})
  void namesFileAndVersionOfAnotherVersion(int version) {
    byte[] bytes = bytes(manifest(RecordKind.SPANS, LOG, INDEX));
    ByteBuffer.wrap(bytes).putInt(Long.BYTES, version);
    seal(bytes);
    assertThatThrownBy(() -> ManifestCodec.decode(ByteBuffer.wrap(bytes), FILE))
        .isInstanceOf(Corrupt.class)
        .hasMessageContaining("file=" + FILE + ", offset=8, version=" + version + ", allowed=6");
  }

  private static void assertMisfit(LogPart log, IndexPart index) {
    assertRefused(bytes(manifest(RecordKind.SPANS, log, index)), log + " " + index);
  }

  private static void assertRefused(byte[] bytes, String what) {
    assertThatThrownBy(() -> ManifestCodec.decode(ByteBuffer.wrap(bytes), FILE))
        .as(what)
        .isInstanceOf(Corrupt.class)
        .hasMessageContaining("file=" + FILE)
        .hasMessageContaining("offset=");
  }

  private static void decodeOrCorrupt(byte[] bytes, String what) {
    try {
      assertThat(ManifestCodec.decode(ByteBuffer.wrap(bytes), FILE)).isNotNull();
    } catch (Corrupt expected) {
      assertThat(expected).as(what).hasMessageContaining("file=" + FILE);
    }
  }

  private static void seal(byte[] bytes) {
    int end = bytes.length - Integer.BYTES;
    int crc = Checksums.crc32c(MemorySegment.ofArray(bytes).asSlice(0, end));
    ByteBuffer.wrap(bytes).putInt(end, crc);
  }

  private static void assertComesBack(CheckpointManifest manifest) {
    assertThat(ManifestCodec.decode(ManifestCodec.encode(manifest), FILE)).isEqualTo(manifest);
  }

  private static LogPart log(Extent... extents) {
    return new LogPart(List.of(extents), null, VOIDS);
  }

  private static SnapshotBlocks blocks(long from, long until) {
    SnapshotBlocks blocks = new SnapshotBlocks(from, until, 256);
    for (int block = 0; block < blocks.count(); block++) {
      blocks.set(block, 3 + block % 5, block * 256L, block, -block);
    }
    return blocks;
  }

  private static CheckpointManifest snapshot(SnapshotBlocks blocks) {
    LogPart log = new LogPart(EXTENTS, blocks, VOIDS);
    return manifest(CheckpointKind.INCREMENTAL_SNAPSHOT, CUT, log, INDEX);
  }

  private static CheckpointManifest manifest(RecordKind records, LogPart log, IndexPart index) {
    Shape shape = new Shape(records, PAGE_BYTES, 1 << 20);
    return new CheckpointManifest(7, CheckpointKind.FOLD_OVER, shape, CUT, log, index);
  }

  private static CheckpointManifest manifest(
      CheckpointKind kind, VersionCut cut, LogPart log, IndexPart index) {
    Shape shape = new Shape(RecordKind.SPANS, PAGE_BYTES, 1 << 20);
    return new CheckpointManifest(7, kind, shape, cut, log, index);
  }

  private static byte[] bytes(CheckpointManifest manifest) {
    ByteBuffer encoded = ManifestCodec.encode(manifest);
    byte[] bytes = new byte[encoded.remaining()];
    encoded.get(bytes);
    return bytes;
  }

  private static ByteBuffer heat(int... heats) {
    ByteBuffer bytes = ByteBuffer.allocate(heats.length);
    for (int heat : heats) {
      bytes.put((byte) heat);
    }
    return bytes.flip().asReadOnlyBuffer();
  }
}
