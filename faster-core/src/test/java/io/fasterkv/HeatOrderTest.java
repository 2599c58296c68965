package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.MemoryOrigin.Run;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.log.HeatMap;
import io.fasterkv.spi.KeyFilter;
import io.fasterkv.spi.LogPiece;
import io.fasterkv.spi.StoreExport;
import io.fasterkv.spi.StoreImport;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that a restored store first copies the stretches that the checkpoint's store has read most
 * from disk.
 */
class HeatOrderTest {
  private static final int KEYS = 14_500;
  private static final int VALUE_BYTES = 2_000;
  private static final int PAGE_BYTES = 64 << 10;
  private static final int PIECES_A_FILE = 64;

  /** Reads of the three hottest stretches, in ascending order. */
  private static final int[] READS = {1_500, 6_000, 24_000};

  @TempDir Path directory;

  private byte[] head = new byte[0];

  private StoreConfigBuilder config(String name) {
    return StoreConfig.builder(directory.resolve(name))
        .memoryBytes(4 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes(1 << 20)
        .segmentBytes(4 << 20)
        .deleteOnClose(true);
  }

  private static FasterStore loaded(StoreConfig config) {
    FasterStore store = FasterStore.open(config);
    try (var session = store.newSession().spans(new BytesFunctions())) {
      for (int key = 0; key < KEYS; key++) {
        ByteBuffer value = ByteBuffer.allocate(VALUE_BYTES).putInt(key);
        session.upsert(ModelDriver.key(key), ByteSpan.of(value.array()), null);
      }
    }
    return store;
  }

  /** The complete stretches of the log except the last one, which is partly in memory. */
  private static List<Integer> stretches(FasterStore store) {
    try (StoreExport export = store.integration().export()) {
      int last = (int) (export.endAddress() / HeatMap.STRETCH_BYTES);
      return new ArrayList<>(IntStream.range(0, last).boxed().toList());
    }
  }

  /** Reads random keys of a stretch. */
  private static void read(FasterStore store, int stretch, int times, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    long bytesAKey;
    try (StoreExport export = store.integration().export()) {
      bytesAKey = export.endAddress() / KEYS;
    }
    try (var session = store.newSession().spans(new BytesFunctions())) {
      for (int i = 0; i < times; i++) {
        long within = random.nextLong(HeatMap.STRETCH_BYTES / 4, HeatMap.STRETCH_BYTES / 4 * 3);
        int key = (int) ((stretch * HeatMap.STRETCH_BYTES + within) / bytesAKey);
        BytesFunctions.Result result = new BytesFunctions.Result();
        assertThat(session.read(ModelDriver.key(key), null, result, null)).isEqualTo(Status.FOUND);
      }
    }
  }

  private List<Run> exported(FasterStore store) {
    List<Run> runs = new ArrayList<>();
    try (StoreExport export = store.integration().export()) {
      export.awaitWritten();
      List<LogPiece> pieces = export.pieces(0);
      for (int next = 0; next < pieces.size(); next += PIECES_A_FILE) {
        List<LogPiece> part = pieces.subList(next, Math.min(pieces.size(), next + PIECES_A_FILE));
        List<byte[]> contents = new ArrayList<>();
        try (StoreExport.Digest digest = export.tryDigest()) {
          for (LogPiece piece : part) {
            byte[] bytes = new byte[piece.bytes()];
            export.read(piece, MemorySegment.ofArray(bytes));
            digest.add(piece, MemorySegment.ofArray(bytes));
            contents.add(bytes);
          }
          runs.add(new Run(part, contents, digest.bytes()));
        }
      }
      head = export.head();
    }
    return runs;
  }

  private FasterStore restored(StoreConfig config, MemoryOrigin origin, List<Run> runs)
      throws IOException {
    try (StoreImport.Target target =
        FasterStore.readExport(head, "head").into(config.directory())) {
      target.finish(runs.stream().flatMap(run -> run.pieces().stream()).toList());
    }
    FasterStore store = FasterStore.recover(config, RecoveryRequest.newest().from(origin));
    store.checkpoints().list().forEach(store.checkpoints()::remove);
    store.integration().copyOrigin();
    store.checkpoints().take();
    return store;
  }

  /** The order in which a fill has copied some of the stretches. */
  private static List<Integer> order(MemoryOrigin origin, List<Integer> of) {
    return origin.filled().stream()
        .map(address -> (int) (address / HeatMap.STRETCH_BYTES))
        .distinct()
        .filter(of::contains)
        .toList();
  }

  @Test
  void theMostReadRecordsAreCopiedFirstAlsoAfterASecondCheckpointAndARescale() throws Exception {
    long seed = Long.getLong("faster.seed", System.nanoTime());
    List<Integer> stretches;
    List<Run> runs;
    try (FasterStore store = loaded(config("first").build())) {
      stretches = stretches(store);
      Collections.shuffle(stretches, new Random(seed));
      for (int rank = 0; rank < READS.length; rank++) {
        read(store, stretches.get(READS.length - 1 - rank), READS[rank], seed + rank);
      }
      runs = exported(store);
    }
    List<Integer> hottest = stretches.subList(0, READS.length);
    MemoryOrigin first = new MemoryOrigin(runs, 32 << 10);
    List<Run> again;
    try (FasterStore store = restored(config("second").build(), first, runs)) {
      assertThat(order(first, stretches)).as("seed %d", seed).startsWith(array(hottest));
      again = exported(store);
    }
    MemoryOrigin second = new MemoryOrigin(again, 32 << 10);
    StoreConfig half = config("third").keyFilter(evenKeys()).build();
    try (FasterStore store = restored(half, second, again)) {
      assertThat(order(second, stretches)).as("seed %d", seed).startsWith(array(hottest));
      assertThat(store.integration().bytesToCopy()).isZero();
    }
  }

  @Test
  void aLogThatWasNotReadIsCopiedFromItsEnd() throws Exception {
    List<Integer> stretches;
    List<Run> runs;
    try (FasterStore store = loaded(config("first").build())) {
      stretches = stretches(store);
      runs = exported(store);
    }
    MemoryOrigin origin = new MemoryOrigin(runs, 32 << 10);
    try (FasterStore store = restored(config("second").build(), origin, runs)) {
      assertThat(store.integration().bytesToCopy()).isZero();
      assertThat(order(origin, stretches)).isEqualTo(stretches.reversed());
    }
  }

  private static Integer[] array(List<Integer> stretches) {
    return stretches.toArray(Integer[]::new);
  }

  /** Half of the keys belong to another store. */
  private static KeyFilter evenKeys() {
    return new KeyFilter() {
      @Override
      public boolean owns(ByteSpan key) {
        return key.getByte(3) % 2 == 0;
      }

      @Override
      public boolean mayOwn(ByteSpan start) {
        return owns(start);
      }
    };
  }
}
