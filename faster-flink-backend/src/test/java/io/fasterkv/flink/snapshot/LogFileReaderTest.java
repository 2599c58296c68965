package io.fasterkv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.FasterStore;
import io.fasterkv.Session;
import io.fasterkv.StoreExport;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LogPiece;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreFunctions;
import io.fasterkv.flink.slowfs.HangingStorage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Log files as they are written, read back in parts; damaged ones, and those of other versions. */
class LogFileReaderTest {
  private static final int KEYS = 2_000;

  @TempDir Path directory;

  private final HangingStorage storage = new HangingStorage();
  private final OpenStreams streams = new OpenStreams();
  private final StreamPool pool = new StreamPool(streams, 2);

  private record Written(List<LogPiece> pieces, byte[] bytes, byte[] log) {
    LogFile file() {
      return file(bytes);
    }

    LogFile file(byte[] content) {
      return new LogFile(
          pieces.getFirst().from(),
          pieces.getLast().until(),
          new ByteStreamStateHandle("a file", content));
    }
  }

  private Written write(int valueBytes) throws Exception {
    StoreConfig config =
        StoreConfig.builder(directory.resolve("store"))
            .memoryBytes(8 << 20)
            .pageBytes(128 << 10)
            .deleteOnClose(true)
            .build();
    try (FasterStore store = FasterStore.open(config)) {
      try (Session<Void, Void, Void> session =
          store.newSession(new Blind(), SessionMode.BLOCKING)) {
        for (int key = 0; key < KEYS; key++) {
          byte[] bytes = ByteBuffer.allocate(8).putInt(key).array();
          session.upsert(ByteSpan.of(bytes), ByteSpan.of(new byte[valueBytes]), null);
        }
      }
      try (StoreExport export = store.export()) {
        export.awaitWritten();
        List<LogPiece> pieces = export.pieces(0);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Cancellation cancellation = new Cancellation();
        try (FileDigests digests = new FileDigests(export, cancellation)) {
          PieceParts parts = new PieceParts(export, out, cancellation);
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

  private static final class Blind implements StoreFunctions<Void, Void, Void> {
    @Override
    public void singleReader(ByteSpan key, Void input, ByteSpan value, Void output) {}

    @Override
    public int initialBytes(ByteSpan key, Void input) {
      return 0;
    }

    @Override
    public void initialUpdater(ByteSpan key, Void input, ByteSpan value) {}

    @Override
    public boolean inPlaceUpdater(ByteSpan key, Void input, ByteSpan value) {
      return false;
    }

    @Override
    public int copyBytes(ByteSpan key, Void input, ByteSpan oldValue) {
      return 0;
    }

    @Override
    public void copyUpdater(ByteSpan key, Void input, ByteSpan oldValue, ByteSpan newValue) {}
  }

  @Test
  void anyPartIsReadAndItsBlocksFitTheirChecksums() throws Exception {
    for (int valueBytes : new int[] {100, 1_000}) {
      Written written = write(valueBytes);
      LogFileReader reader = LogFileReader.open(written.file(), 128 << 10, pool);
      assertThat(reader.pieces()).isEqualTo(written.pieces);
      assertThat(reader.hasDigest()).isEqualTo(valueBytes == 1_000);
      List<Integer> digest = new ArrayList<>();
      reader.readDigest(part -> digest.add(part.length));
      assertThat(digest.stream().mapToInt(each -> each / 24).sum())
          .isEqualTo(valueBytes == 1_000 ? KEYS : 0);
      long begin = written.pieces.getFirst().from();
      for (int number = 0; number < written.pieces.size(); number++) {
        LogPiece piece = written.pieces.get(number);
        for (int block = 0; block < piece.blocks(reader.blockBytes()); block++) {
          long from = piece.blockFrom(block, reader.blockBytes());
          int length = (int) (piece.blockFrom(block + 1, reader.blockBytes()) - from);
          byte[] bytes = new byte[length];
          reader.read(from, MemorySegment.ofArray(bytes));
          CRC32C crc = new CRC32C();
          crc.update(written.log, (int) (from - begin), length);
          assertThat(bytes)
              .isEqualTo(
                  Arrays.copyOfRange(
                      written.log, (int) (from - begin), (int) (from - begin) + length));
          assertThat(reader.blockCrc(number, block)).isEqualTo((int) crc.getValue());
        }
      }
    }
  }

  /** The head comes with one read of the end, and all reads share a stream. */
  @Test
  void oneStreamIsOpenedForAFile() throws Exception {
    Written written = write(1_000);
    LogFile file = written.file();
    LogFile counted = new LogFile(file.from(), file.until(), storage.wrap(file.handle()));
    storage.hangFrom(Integer.MAX_VALUE);
    LogFileReader reader = LogFileReader.open(counted, 128 << 10, pool);
    // An opening, a seek, and one read.
    assertThat(storage.calls()).isEqualTo(3);
    reader.readDigest(part -> {});
    for (LogPiece piece : reader.pieces()) {
      reader.read(piece.from(), MemorySegment.ofArray(new byte[piece.bytes()]));
    }
    assertThat(storage.openStreams()).isEqualTo(1);
    pool.close();
    assertThat(storage.openStreams()).isZero();
  }

  @Test
  void anOlderVersionIsRefusedWithBothVersions() throws Exception {
    Written written = write(100);
    ByteBuffer old = ByteBuffer.wrap(written.bytes.clone());
    old.putInt(0, 20).putInt(4, 0x464C4732);
    byte[] bytes = Arrays.copyOf(old.array(), old.capacity() - 3);
    assertThatThrownBy(() -> LogFileReader.open(written.file(bytes), 128 << 10, pool))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("found=FLG2, allowed=FLG3")
        .hasMessageContaining("canonical savepoint");
  }

  /** Each byte behind the log, changed. */
  @Test
  void damageBehindTheLogIsAnErrorWithThePlace() throws Exception {
    Written written = write(1_000);
    int end = written.log.length;
    for (int at = end;
        at < written.bytes.length;
        at += 1 + (at < written.bytes.length - 600 ? 97 : 0)) {
      byte[] wrong = written.bytes.clone();
      wrong[at] ^= 4;
      assertThatThrownBy(
              () -> {
                LogFileReader reader = LogFileReader.open(written.file(wrong), 128 << 10, pool);
                reader.readDigest(part -> {});
              })
          .as("byte " + (at - end))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("file=a file, offset=");
    }
    for (int length : new int[] {0, 3, 15, 16, end, written.bytes.length - 1}) {
      byte[] cut = Arrays.copyOf(written.bytes, length);
      assertThatThrownBy(() -> LogFileReader.open(written.file(cut), 128 << 10, pool))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("file=a file");
    }
    assertThat(streams.count()).isLessThanOrEqualTo(2);
  }
}
