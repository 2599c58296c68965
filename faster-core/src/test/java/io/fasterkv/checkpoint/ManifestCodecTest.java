package io.fasterkv.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.StoreConfig.RecordKind;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.checkpoint.CheckpointManifest.IndexPart;
import io.fasterkv.checkpoint.CheckpointManifest.LogPart;
import io.fasterkv.checkpoint.CheckpointManifest.Shape;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.memory.Checksums;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ManifestCodecTest {
  private static final Path FILE = Path.of("checkpoint-7.manifest");
  private static final int PAGE_BYTES = 1024;
  private static final List<Extent> EXTENTS =
      List.of(new Extent(0, 1024, 11), new Extent(1024, 1536, -12), new Extent(1536, 2048, 13));
  private static final LogPart LOG = new LogPart(64, 2048, EXTENTS);
  private static final IndexPart INDEX = new IndexPart(6, 1, 256, List.of(1, -2));

  @ParameterizedTest
  @EnumSource
  void comesBackAsItWas(RecordKind kind) {
    CheckpointManifest manifest = manifest(kind, LOG, INDEX);
    assertThat(ManifestCodec.decode(ManifestCodec.encode(manifest), FILE)).isEqualTo(manifest);
  }

  @Test
  void anEmptyLogComesBackAsItWas() {
    CheckpointManifest manifest = manifest(RecordKind.SPANS, new LogPart(64, 64, List.of()), INDEX);
    assertThat(ManifestCodec.decode(ManifestCodec.encode(manifest), FILE)).isEqualTo(manifest);
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
  void whateverTheNumbersAreAMatchingChecksumBringsNothingButCorrupt() {
    byte[] good = bytes(manifest(RecordKind.SPANS, LOG, INDEX));
    for (int at = 0; at < good.length - Integer.BYTES; at++) {
      for (int value : new int[] {0, 1, 0x7F, 0x80, 0xFF}) {
        byte[] forged = good.clone();
        forged[at] = (byte) value;
        seal(forged);
        decodeOrCorrupt(forged, "offset=" + at + ", value=" + value);
      }
    }
  }

  @Test
  void numbersThatDoNotFitEachOtherAreRefused() {
    assertMisfit(new LogPart(4096, 2048, EXTENTS), INDEX);
    assertMisfit(new LogPart(64, 2000, EXTENTS), INDEX);
    assertMisfit(new LogPart(64, 2048, List.of(EXTENTS.get(0), EXTENTS.get(2))), INDEX);
    assertMisfit(new LogPart(64, 2048, List.of(new Extent(0, 2048, 1))), INDEX);
    assertMisfit(LOG, new IndexPart(0, 1, 256, List.of(1)));
    assertMisfit(LOG, new IndexPart(6, 1, 256, List.of(1)));
    assertMisfit(LOG, new IndexPart(6, -1, 256, List.of(1, 2)));
  }

  @Test
  void namesFileAndVersionOfAnotherVersion() {
    byte[] bytes = bytes(manifest(RecordKind.SPANS, LOG, INDEX));
    ByteBuffer.wrap(bytes).putInt(Long.BYTES, 9);
    seal(bytes);
    assertThatThrownBy(() -> ManifestCodec.decode(ByteBuffer.wrap(bytes), FILE))
        .isInstanceOf(Corrupt.class)
        .hasMessageContaining("file=" + FILE + ", offset=8, version=9, allowed=1");
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

  private static CheckpointManifest manifest(RecordKind kind, LogPart log, IndexPart index) {
    return new CheckpointManifest(7, new Shape(kind, PAGE_BYTES, 1 << 20), log, index);
  }

  private static byte[] bytes(CheckpointManifest manifest) {
    ByteBuffer encoded = ManifestCodec.encode(manifest);
    byte[] bytes = new byte[encoded.remaining()];
    encoded.get(bytes);
    return bytes;
  }
}
