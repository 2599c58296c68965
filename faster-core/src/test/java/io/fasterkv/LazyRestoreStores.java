package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.MemoryOrigin.Run;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.spi.LogPiece;
import io.fasterkv.spi.StoreExport;
import io.fasterkv.spi.StoreImport;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;

/**
 * Stores that are restored lazily from the exports of another, with the code that their tests
 * share.
 */
abstract class LazyRestoreStores {
  static final int KEYS = 3_000;
  static final int FOR_EVER = Integer.MAX_VALUE;
  static final int PIECES_A_FILE = 8;
  static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir Path directory;

  byte[] head = new byte[0];

  StoreConfigBuilder config(String name) {
    return StoreConfig.builder(directory.resolve(name))
        .memoryBytes(1 << 20)
        .pageBytes(4096)
        .logMemoryBytes(32 << 10)
        .segmentBytes(32768)
        .indexBytes(128 << 10)
        .deleteOnClose(true);
  }

  List<Run> exported() {
    List<Run> runs = new ArrayList<>();
    try (FasterStore store = FasterStore.open(config("first").build())) {
      upsert(store, 0, KEYS, 1);
      try (StoreExport export = store.integration().export()) {
        export.awaitWritten();
        List<LogPiece> pieces = export.pieces(0);
        for (int next = 0; next < pieces.size(); next += PIECES_A_FILE) {
          int end = Math.min(pieces.size(), next + PIECES_A_FILE);
          runs.add(run(export, pieces.subList(next, end)));
        }
        head = export.head();
      }
    }
    return runs;
  }

  static Run run(StoreExport export, List<LogPiece> pieces) {
    List<byte[]> contents = new ArrayList<>();
    try (StoreExport.Digest digest = export.tryDigest()) {
      for (LogPiece piece : pieces) {
        byte[] bytes = new byte[piece.bytes()];
        export.read(piece, MemorySegment.ofArray(bytes));
        digest.add(piece, MemorySegment.ofArray(bytes));
        contents.add(bytes);
      }
      return new Run(pieces, contents, digest.bytes());
    }
  }

  StoreConfig prepare(List<Run> runs, StoreConfigBuilder builder) throws IOException {
    StoreConfig config = builder.build();
    try (StoreImport.Target target =
        FasterStore.readExport(head, "head").into(config.directory())) {
      target.finish(runs.stream().flatMap(run -> run.pieces().stream()).toList());
    }
    return config;
  }

  FasterStore open(List<Run> runs, MemoryOrigin origin) throws IOException {
    StoreConfig config = prepare(runs, config("second"));
    FasterStore store = FasterStore.recover(config, RecoveryRequest.newest().from(origin));
    store.checkpoints().list().forEach(store.checkpoints()::remove);
    store.integration().copyOrigin();
    store.integration().copyOrigin();
    return store;
  }

  static void upsert(FasterStore store, int from, int until, int generation) {
    try (var session = store.newSession().spans(new BytesFunctions())) {
      for (int key = from; key < until; key++) {
        session.upsert(ModelDriver.key(key), ByteSpan.of(value(key, generation)), null);
      }
    }
  }

  static void assertHolds(FasterStore store, int from, int until, int generation) {
    try (var session = store.newSession().spans(new BytesFunctions())) {
      for (int key = from; key < until; key++) {
        BytesFunctions.Result result = new BytesFunctions.Result();
        assertThat(session.read(ModelDriver.key(key), null, result, null)).isEqualTo(Status.FOUND);
        assertThat(result.value).isEqualTo(value(key, generation));
      }
    }
  }

  static byte[] value(int key, int generation) {
    return ByteBuffer.allocate(100).putInt(key).putInt(generation).array();
  }
}
