package io.fasterkv.flink.snapshot;

import io.fasterkv.BytesSession;
import io.fasterkv.FasterStore;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.flink.slowfs.HangingStorage;
import io.fasterkv.spi.LogPiece;
import io.fasterkv.spi.StoreExport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;

/** Tests reading log files in parts, damaged files, and files of other versions. */
class LogFileReaderTest {
  private static final int KEYS = 2_000;

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
        LogFileReader reader = LogFileReader.open(file(), 128 << 10, pool);
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
            .pageBytes(128 << 10)
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
}
