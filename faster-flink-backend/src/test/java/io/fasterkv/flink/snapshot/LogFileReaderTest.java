package io.fasterkv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.BytesSession;
import io.fasterkv.FasterStore;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.slowfs.HangingStorage;
import io.fasterkv.spi.LogPiece;
import io.fasterkv.spi.StoreExport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests reading log files in parts, damaged files, and files of other versions. */
@Tag("seeds")
class LogFileReaderTest {
  private static final int KEYS = 2_000;
  private static final int PAGE_BYTES = 128 << 10;

  @TempDir Path directory;

  private final HangingStorage storage = new HangingStorage();
  private final OpenStreams streams = new OpenStreams(System.getLogger("test"));
  private final StreamPool pool = new StreamPool(streams, 2);

  private record Written(List<LogPiece> pieces, byte[] bytes, byte[] log) {
    LogFile file() {
      return file(bytes);
    }

    byte[] log(long from, long until) {
      long begin = pieces.getFirst().from();
      return Arrays.copyOfRange(log, (int) (from - begin), (int) (until - begin));
    }

    /** Number of bytes by which the file is longer than the log. */
    int overhead() {
      return bytes.length - log.length;
    }

    /** The length of the tables after the blocks of the log. */
    int tables() throws IOException {
      try (StreamPool pool = new StreamPool(new OpenStreams(System.getLogger("test")), 1)) {
        LogFileReader reader = LogFileReader.open(file(), PAGE_BYTES, pool);
        return bytes.length - reader.storedBytes();
      }
    }

    LogFile file(byte[] content) {
      return new LogFile(
          pieces.getFirst().from(),
          pieces.getLast().until(),
          new ByteStreamStateHandle("a file", content));
    }
  }

  private Written write(int valueBytes) throws Exception {
    return write(valueBytes, new BlockPacker(), new SplittableRandom(7));
  }

  /** Writes a file of records with values whose second half is random. */
  private Written write(int valueBytes, @Nullable BlockPacker packer, SplittableRandom random)
      throws Exception {
    StoreConfig config =
        StoreConfig.builder(directory.resolve("store"))
            .memoryBytes(8 << 20)
            .pageBytes(PAGE_BYTES)
            .deleteOnClose(true)
            .build();
    try (FasterStore store = FasterStore.open(config)) {
      try (BytesSession session = store.newSession().bytes()) {
        for (int key = 0; key < KEYS; key++) {
          byte[] bytes = ByteBuffer.allocate(8).putInt(key).array();
          session.put(bytes, value(valueBytes, random));
        }
      }
      try (StoreExport export = store.integration().export()) {
        export.awaitWritten();
        List<LogPiece> pieces = export.pieces(0);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Cancellation cancellation = new Cancellation();
        try (FileDigests digests = new FileDigests(export, cancellation)) {
          PieceParts parts = new PieceParts(export, out, cancellation, packer);
          LogFileFormat.write(pieces, parts, digests.of(), out);
        }
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        for (LogPiece piece : pieces) {
          byte[] bytes = new byte[piece.bytes()];
          export.read(piece, MemorySegment.ofArray(bytes));
          log.write(bytes);
        }
        return new Written(pieces, out.toByteArray(), log.toByteArray());
      }
    }
  }

  private static byte[] value(int bytes, SplittableRandom random) {
    byte[] half = new byte[bytes / 2];
    random.nextBytes(half);
    byte[] value = new byte[bytes];
    System.arraycopy(half, 0, value, bytes - half.length, half.length);
    return value;
  }

  @Test
  void anyPartIsReadAndItsBlocksFitTheirChecksums() throws Exception {
    for (int valueBytes : new int[] {100, 1_000}) {
      Written written = write(valueBytes);
      LogFileReader reader = LogFileReader.open(written.file(), PAGE_BYTES, pool);
      assertThat(reader.pieces()).isEqualTo(written.pieces).hasSizeGreaterThan(1);
      assertThat(reader.hasDigest()).isEqualTo(valueBytes == 1_000);
      List<Integer> digest = new ArrayList<>();
      reader.readDigest(part -> digest.add(part.length));
      assertThat(digest.stream().mapToInt(each -> each / 24).sum())
          .isEqualTo(valueBytes == 1_000 ? KEYS : 0);
      for (int number = 0; number < written.pieces.size(); number++) {
        LogPiece piece = written.pieces.get(number);
        for (int block = 0; block < piece.blocks(reader.blockBytes()); block++) {
          long from = piece.blockFrom(block, reader.blockBytes());
          long until = piece.blockFrom(block + 1, reader.blockBytes());
          byte[] bytes = new byte[(int) (until - from)];
          reader.read(from, MemorySegment.ofArray(bytes));
          assertThat(bytes).isEqualTo(written.log(from, until));
          assertThat(reader.blockCrc(number, block)).isEqualTo(Blocks.crc(bytes, bytes.length));
        }
      }
    }
  }

  @Test
  void anyRunOfBlocksIsRead() throws Throwable {
    Seeds.run(
        100,
        random -> {
          int valueBytes = random.nextInt(2_000);
          Written written =
              write(valueBytes, random.nextBoolean() ? new BlockPacker() : null, random);
          LogFileReader reader = LogFileReader.open(written.file(), PAGE_BYTES, pool);
          List<Long> ends = new ArrayList<>();
          for (LogPiece piece : written.pieces) {
            for (int block = 0; block < piece.blocks(reader.blockBytes()); block++) {
              ends.add(piece.blockFrom(block, reader.blockBytes()));
            }
          }
          ends.add(written.pieces.getLast().until());
          for (int i = 0; i < 50; i++) {
            int first = random.nextInt(ends.size() - 1);
            long from = ends.get(first);
            long until = ends.get(random.nextInt(first + 1, ends.size()));
            byte[] bytes = new byte[(int) (until - from)];
            reader.read(from, MemorySegment.ofArray(bytes));
            assertThat(bytes).isEqualTo(written.log(from, until));
          }
        });
  }

  @Test
  void blocksAreCompressedIfThatMakesThemShorter() throws Exception {
    Written compressed = write(1_000);
    assertThat(compressed.bytes.length).isLessThan(compressed.log.length * 2 / 3);
    Written asItIs = write(1_000, null, new SplittableRandom(7));
    assertThat(asItIs.overhead()).isEqualTo(asItIs.tables());
    assertThat(asItIs.bytes).startsWith(asItIs.log);
  }

  /** The head comes with the last two blocks, and all reads share a stream. */
  @Test
  void oneStreamIsOpenedForAFile() throws Exception {
    Written written = write(1_000);
    LogFile file = written.file();
    LogFile counted = new LogFile(file.from(), file.until(), storage.wrap(file.handle()));
    storage.hangFrom(Integer.MAX_VALUE);
    LogFileReader reader = LogFileReader.open(counted, PAGE_BYTES, pool);
    // An opening, a seek, and two reads of a block.
    assertThat(storage.calls()).isEqualTo(4);
    reader.readDigest(part -> {});
    for (LogPiece piece : reader.pieces()) {
      reader.read(piece.from(), MemorySegment.ofArray(new byte[piece.bytes()]));
    }
    assertThat(storage.openStreams()).isEqualTo(1);
    pool.close();
    assertThat(storage.openStreams()).isZero();
  }

  @Test
  void otherVersionsAreRefusedWithBothVersions() throws Exception {
    Written written = write(100);
    ByteBuffer second = ByteBuffer.wrap(written.bytes.clone()).putInt(0, 20).putInt(4, 0x464C4732);
    byte[] withHeadFirst = Arrays.copyOf(second.array(), second.capacity() - 3);
    int footerAt = written.bytes.length - LogFileFormat.FOOTER_BYTES;
    ByteBuffer third = ByteBuffer.wrap(written.bytes.clone());
    third.putInt(footerAt + 8, 0x464C4733);
    byte[] checked = Arrays.copyOfRange(third.array(), footerAt, footerAt + 12);
    third.putInt(footerAt + 12, Blocks.crc(checked, checked.length));
    assertRefused(written.file(withHeadFirst), "found=FLG2, allowed=FLG4");
    assertRefused(written.file(third.array()), "found=FLG3, allowed=FLG4");
  }

  private void assertRefused(LogFile file, String versions) {
    assertThatThrownBy(() -> LogFileReader.open(file, PAGE_BYTES, pool))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("file=a file, offset=")
        .hasMessageContaining(versions)
        .hasMessageContaining("canonical savepoint");
  }

  /** Some bytes behind the log, and each of the last 600, changed. */
  @Test
  void damageBehindTheLogIsAnErrorWithThePlace() throws Exception {
    Written written = write(1_000);
    int all = written.bytes.length;
    int end = all - written.tables();
    byte[] wrong = written.bytes.clone();
    for (int at = end; at < all; at += at < all - 600 ? 98 : 1) {
      wrong[at] ^= 4;
      assertThatThrownBy(
              () -> LogFileReader.open(written.file(wrong), PAGE_BYTES, pool).readDigest(x -> {}))
          .as("byte " + (at - end))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("file=a file, offset=");
      wrong[at] ^= 4;
    }
    for (int length : new int[] {0, 3, 15, 16, end, all - 1}) {
      byte[] cut = Arrays.copyOf(written.bytes, length);
      assertThatThrownBy(() -> LogFileReader.open(written.file(cut), PAGE_BYTES, pool))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("file=a file");
    }
    assertThat(streams.count()).isLessThanOrEqualTo(2);
  }

  /** Each seventh bit of the file's first bytes: an error, or bytes that the checksum refuses. */
  @Test
  void aFlippedBitIsNeverReadAsSoundBytesThatDiffer() throws Exception {
    Written written = write(1_000);
    LogPiece piece = written.pieces.getFirst();
    LogFileReader sound = LogFileReader.open(written.file(), PAGE_BYTES, pool);
    long until = piece.blockFrom(1, sound.blockBytes());
    byte[] read = new byte[(int) (until - piece.from())];
    byte[] wrong = written.bytes.clone();
    int refused = 0;
    int seen = 0;
    for (int bit = 0; bit < 8 * 3_000; bit += 7) {
      wrong[bit / 8] ^= (byte) (1 << bit % 8);
      LogFileReader reader = LogFileReader.open(written.file(wrong), PAGE_BYTES, pool);
      try {
        reader.read(piece.from(), MemorySegment.ofArray(read));
        if (Blocks.crc(read, read.length) != reader.blockCrc(0, 0)) {
          seen++;
        } else {
          assertThat(read).as("bit " + bit).isEqualTo(written.log(piece.from(), until));
        }
      } catch (Corrupt damaged) {
        assertThat(damaged).hasMessageContaining("file=a file, offset=0, address=" + piece.from());
        refused++;
      }
      wrong[bit / 8] ^= (byte) (1 << bit % 8);
    }
    assertThat(refused).isPositive();
    assertThat(seen).isPositive();
  }
}
