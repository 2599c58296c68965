package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.MemoryOrigin.Run;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.CheckpointKind;
import io.fasterkv.api.CheckpointRequest;
import io.fasterkv.api.CheckpointToken;
import io.fasterkv.api.KeyFilter;
import io.fasterkv.api.LogPiece;
import io.fasterkv.api.RecoveryRequest;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreException;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.StoreException.DiskFull;
import io.fasterkv.api.Versions;
import io.fasterkv.device.BorrowingDevice;
import io.fasterkv.device.FileDevice;
import io.fasterkv.device.NoSpaceException;
import io.fasterkv.device.ReadQueue;
import io.fasterkv.sim.ScriptedDevice;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store that is opened before its log is here. */
class BorrowedLogTest {
  private static final int KEYS = 3_000;
  private static final int FOR_EVER = Integer.MAX_VALUE;
  private static final int PIECES_A_FILE = 8;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir Path directory;

  private byte[] head = new byte[0];

  private StoreConfig.Builder config(String name) {
    return StoreConfig.builder(directory.resolve(name))
        .memoryBytes(1 << 20)
        .pageBytes(4096)
        .logMemoryBytes(32 << 10)
        .segmentBytes(32768)
        .indexBytes(128 << 10)
        .deleteOnClose(true);
  }

  private List<Run> exported() {
    List<Run> runs = new ArrayList<>();
    try (FasterStore store = FasterStore.open(config("first").build())) {
      upsert(store, 0, KEYS, 1);
      try (StoreExport export = store.export()) {
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

  private static Run run(StoreExport export, List<LogPiece> pieces) {
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

  private StoreConfig prepare(List<Run> runs, StoreConfig.Builder builder) throws IOException {
    StoreConfig config = builder.build();
    try (StoreImport.Target target = StoreImport.of(head, "head").into(config.directory())) {
      target.finish(runs.stream().flatMap(run -> run.pieces().stream()).toList());
    }
    return config;
  }

  private FasterStore open(List<Run> runs, MemoryOrigin origin) throws IOException {
    StoreConfig config = prepare(runs, config("second"));
    FasterStore store = FasterStore.recover(config, RecoveryRequest.newest().from(origin));
    store.checkpoints().forEach(store::removeCheckpoint);
    store.copyOrigin();
    store.copyOrigin();
    return store;
  }

  private static void upsert(FasterStore store, int from, int until, int generation) {
    try (var session = store.newSession(new BytesFunctions(), SessionMode.BLOCKING)) {
      for (int key = from; key < until; key++) {
        session.upsert(ModelDriver.key(key), ByteSpan.of(value(key, generation)), null);
      }
    }
  }

  private static void assertHolds(FasterStore store, int from, int until, int generation) {
    try (var session = store.newSession(new BytesFunctions(), SessionMode.BLOCKING)) {
      for (int key = from; key < until; key++) {
        BytesFunctions.Result result = new BytesFunctions.Result();
        assertThat(session.read(ModelDriver.key(key), null, result, null)).isEqualTo(Status.FOUND);
        assertThat(result.value).isEqualTo(value(key, generation));
      }
    }
  }

  private static byte[] value(int key, int generation) {
    return ByteBuffer.allocate(100).putInt(key).putInt(generation).array();
  }

  @Test
  void allIsReadWhereItCameFromWhileNoFileCanBeCopied() throws Exception {
    List<Run> runs = exported();
    MemoryOrigin origin = new MemoryOrigin(runs).refusing(FOR_EVER);
    try (FasterStore store = open(runs, origin)) {
      assertHolds(store, KEYS / 2, KEYS, 1);
      assertThat(origin.singleReads.get()).isPositive();
      assertThat(origin.isClosed()).isFalse();
      upsert(store, 0, KEYS / 2, 2);
      assertHolds(store, 0, KEYS / 2, 2);
      store.compact();
      assertHolds(store, 0, KEYS / 2, 2);
      assertHolds(store, KEYS / 2, KEYS, 1);
      StoreInvariants.check(store);
    }
    assertThat(origin.isClosed()).isTrue();
  }

  /** Compaction's first look at a log that is far away meets an error that passes. */
  @Test
  void whatCannotBeReadForAWhileEndsNoStore() throws Exception {
    List<Run> runs = exported();
    MemoryOrigin origin = new MemoryOrigin(runs).refusing(FOR_EVER).refusingPieces(2);
    StoreConfig config = prepare(runs, config("second").backgroundCompaction(true));
    try (FasterStore store = FasterStore.recover(config, RecoveryRequest.newest().from(origin))) {
      store.checkpoints().forEach(store::removeCheckpoint);
      store.copyOrigin();
      long start = System.nanoTime();
      while (origin.piecesToRefuse() > 0) {
        assertThat(System.nanoTime() - start).isLessThan(PATIENCE.toNanos());
        Thread.onSpinWait();
      }
      // Passes go on, and what they write shows that the log takes it.
      for (int generation = 2; store.compactionStats().passes() == 0; generation++) {
        upsert(store, 0, KEYS / 2, generation);
      }
      upsert(store, 0, KEYS / 2, 99);
      assertHolds(store, 0, KEYS / 2, 99);
      assertHolds(store, KEYS / 2, KEYS, 1);
    }
  }

  @Test
  void eachPieceIsFetchedOnceAndTheOriginIsClosedWhenAllAreHere() throws Exception {
    List<Run> runs = exported();
    MemoryOrigin origin = new MemoryOrigin(runs).refusing(3);
    try (FasterStore store = open(runs, origin)) {
      Path linked = Files.createDirectory(directory.resolve("linked"));
      try (StoreExport export = store.export()) {
        export.awaitWritten();
        export.linkSegments(linked);
      }
      assertThat(origin.isClosed()).isTrue();
      assertThat(store.bytesToCopy()).isZero();
      int reads = origin.singleReads.get();
      assertHolds(store, 0, KEYS, 1);
      assertThat(origin.singleReads.get()).isEqualTo(reads);
      try (Stream<Path> segments = Files.list(linked)) {
        long bytes = segments.mapToLong(file -> file.toFile().length()).sum();
        assertThat(bytes).isGreaterThanOrEqualTo(runs.getLast().until());
      }
    }
  }

  /** Nothing that was removed comes back as a file that nobody removes again. */
  @Test
  void whatWasGivenUpIsNotFetchedAnyMore() throws Exception {
    List<Run> runs = exported();
    MemoryOrigin origin = new MemoryOrigin(runs).refusing(1);
    try (FasterStore store = open(runs, origin)) {
      store.truncate(runs.getLast().until());
      try (StoreExport export = store.export()) {
        export.awaitWritten();
        export.linkSegments(Files.createDirectory(directory.resolve("linked")));
      }
      long kept = runs.getLast().until() / 32768;
      try (Stream<Path> files = Files.list(directory.resolve("second"))) {
        assertThat(files.map(file -> file.getFileName().toString()))
            .filteredOn(name -> name.startsWith("log."))
            .allMatch(name -> Long.parseLong(name.substring(4)) >= kept);
      }
    }
  }

  @Test
  void aPieceThatIsNotWhatWasWrittenEndsTheStoreByName() throws Exception {
    List<Run> runs = exported();
    Run wrong = runs.get(runs.size() / 2);
    wrong.bytes().get(3)[100] ^= 1;
    String place = "file=memory-" + wrong.from() + ", offset=" + 3 * 4096;
    try (FasterStore store = open(runs, new MemoryOrigin(runs))) {
      try (StoreExport export = store.export()) {
        export.awaitWritten();
        assertThatThrownBy(
                () -> export.linkSegments(Files.createDirectory(directory.resolve("linked"))))
            .isInstanceOf(IOException.class)
            .hasMessageContaining(place);
      } catch (StoreException alreadyEnded) {
        assertThat(alreadyEnded).hasMessageContaining(place);
      }
      assertThatThrownBy(() -> upsert(store, 0, KEYS, 2))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining(place);
    }
  }

  @Test
  void aPieceThatIsNotWhatWasWrittenIsNeverReadAsAValue() throws Exception {
    List<Run> runs = exported();
    runs.forEach(run -> run.bytes().forEach(bytes -> bytes[bytes.length / 2] ^= 1));
    MemoryOrigin origin = new MemoryOrigin(runs).refusing(FOR_EVER);
    FasterStore store = open(runs, origin);
    try {
      assertThatThrownBy(() -> assertHolds(store, 0, KEYS, 1))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("file=memory-");
    } finally {
      store.close();
    }
  }

  @Test
  void aDigestThatIsNotOfItsFileIsRefused() throws Exception {
    List<Run> runs = exported();
    Run first = runs.getFirst();
    byte[] cut = Arrays.copyOf(first.digest(), first.digest().length - 1);
    byte[] shifted = first.digest().clone();
    ByteBuffer.wrap(shifted).order(ByteOrder.LITTLE_ENDIAN).putInt(16, 1 << 28);
    for (byte[] digest : List.of(cut, shifted)) {
      List<Run> changed = new ArrayList<>(runs);
      changed.set(0, new Run(first.pieces(), first.bytes(), digest));
      StoreConfig config = prepare(changed, config("second-" + digest.length));
      RecoveryRequest request = RecoveryRequest.newest().from(new MemoryOrigin(changed));
      assertThatThrownBy(() -> FasterStore.recover(config, request))
          .isInstanceOf(Corrupt.class)
          .hasMessageContaining("file=memory-");
    }
  }

  private static KeyFilter evenKeys() {
    return new KeyFilter() {
      @Override
      public boolean owns(ByteSpan key) {
        return key.getByte(3) % 2 == 0;
      }

      @Override
      public boolean mayOwn(ByteSpan keyHead) {
        return owns(keyHead);
      }
    };
  }

  /** Nobody writes, and all that the store is there for is live. */
  @Test
  void keysOfOthersLeaveTheLog() throws Exception {
    List<Run> runs = exported();
    StoreConfig config =
        prepare(runs, config("second").keyFilter(evenKeys()).backgroundCompaction(true));
    RecoveryRequest request = RecoveryRequest.newest().from(new MemoryOrigin(runs));
    long imported = runs.getLast().until();
    try (FasterStore store = FasterStore.recover(config, request)) {
      store.checkpoints().forEach(store::removeCheckpoint);
      long start = System.nanoTime();
      while (store.logBytes() > imported * 2 / 3) {
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(PATIENCE);
        Thread.onSpinWait();
      }
      try (LogScan scan = store.scan(Versions.LIVE)) {
        int records = 0;
        while (scan.next()) {
          records++;
        }
        assertThat(records).isEqualTo(KEYS / 2);
      }
    }
  }

  @Test
  void keysOfOthersTakeNoRoomInTheIndex() throws Exception {
    List<Run> runs = exported();
    StoreConfig config = prepare(runs, config("second").keyFilter(evenKeys()));
    RecoveryRequest request = RecoveryRequest.newest().from(new MemoryOrigin(runs));
    try (FasterStore store = FasterStore.recover(config, request)) {
      store.checkpoints().forEach(store::removeCheckpoint);
      assertThat(store.indexStatistics().entries()).isBetween(KEYS / 3L, KEYS / 2L);
      List<Integer> seen = new ArrayList<>();
      try (LogScan scan = store.scan(Versions.LIVE)) {
        while (scan.next()) {
          seen.add(ByteBuffer.wrap(scan.key().toArray()).getInt());
        }
      }
      assertThat(seen).hasSize(KEYS / 2).allMatch(key -> key % 2 == 0);
    }
  }

  /** Blocks that do not fit the disk are read from the origin each time. */
  @Test
  void aFullDiskKeepsNobodyFromReading() throws Exception {
    List<Run> runs = exported();
    StoreConfig config = prepare(runs, config("second"));
    ScriptedDevice full =
        new ScriptedDevice(new FileDevice(config.directory(), config.segmentBytes()));
    full.setScript(
        new ScriptedDevice.Script() {
          @Override
          public void beforeWrite(long address, long bytes) throws IOException {
            throw new NoSpaceException(new IOException("full"));
          }
        });
    MemoryOrigin origin = new MemoryOrigin(runs);
    try (BorrowingDevice device = new BorrowingDevice(full, origin)) {
      LogPiece piece = runs.get(1).pieces().get(2);
      byte[] into = new byte[300];
      device.readNow(piece.from() + 64, MemorySegment.ofArray(into));
      assertThat(into).isEqualTo(Arrays.copyOfRange(runs.get(1).bytes().get(2), 64, 364));
      assertThat(device.missingBytes()).isEqualTo(runs.getLast().until());
    }
  }

  /** What a checkpoint confirms is in the directory, also of what was still elsewhere. */
  @Test
  void aCheckpointWaitsForAllOfTheLog() throws Exception {
    List<Run> runs = exported();
    for (CheckpointKind kind : List.of(CheckpointKind.FOLD_OVER, CheckpointKind.SNAPSHOT)) {
      StoreConfig config = prepare(runs, config("second-" + kind).deleteOnClose(false));
      MemoryOrigin origin = new MemoryOrigin(runs).refusing(2);
      RecoveryRequest request = RecoveryRequest.newest().from(origin);
      try (FasterStore store = FasterStore.recover(config, request)) {
        upsert(store, 0, KEYS / 2, 2);
        store.checkpoint(CheckpointRequest.full(kind));
        assertThat(store.bytesToCopy()).isZero();
      }
      assertThat(origin.isClosed()).isTrue();
      try (FasterStore store = FasterStore.recover(config)) {
        assertHolds(store, 0, KEYS / 2, 2);
        assertHolds(store, KEYS / 2, KEYS, 1);
      }
    }
  }

  @Test
  void aCheckpointThatFindsDamageEndsTheStoresWrites() throws Exception {
    List<Run> runs = exported();
    runs.getFirst().bytes().getFirst()[100] ^= 1;
    StoreConfig config = prepare(runs, config("second"));
    RecoveryRequest request = RecoveryRequest.newest().from(new MemoryOrigin(runs));
    try (FasterStore store = FasterStore.recover(config, request)) {
      assertThatThrownBy(store::checkpoint)
          .isInstanceOf(DeviceFailed.class)
          .hasMessageContaining("file=memory-0, offset=0");
      assertThatThrownBy(() -> upsert(store, 0, KEYS, 2))
          .isInstanceOf(DeviceFailed.class)
          .hasMessageContaining("file=memory-0, offset=0");
    }
  }

  @Test
  void aCheckpointWaitsForNoFullDisk() throws Exception {
    List<Run> runs = exported();
    StoreConfig config = prepare(runs, config("second").deleteOnClose(false));
    ScriptedDevice disk =
        new ScriptedDevice(new FileDevice(config.directory(), config.segmentBytes()));
    disk.setScript(
        new ScriptedDevice.Script() {
          @Override
          public void beforeWrite(long address, long bytes) throws IOException {
            throw new NoSpaceException(new IOException("full"));
          }
        });
    RecoveryRequest request = RecoveryRequest.newest().from(new MemoryOrigin(runs));
    try (FasterStore store = FasterStore.recover(config, request, disk)) {
      assertThatThrownBy(store::checkpoint).isInstanceOf(DiskFull.class);
      disk.setScript(ScriptedDevice.Script.NONE);
      store.checkpoint();
    }
    try (FasterStore store = FasterStore.recover(config)) {
      assertHolds(store, 0, KEYS, 1);
    }
  }

  /** Without that, all that was written after the origin's end would be gone without a word. */
  @Test
  void theOriginOfAnotherCheckpointIsRefused() throws Exception {
    List<Run> runs = exported();
    StoreConfig config = prepare(runs, config("second").deleteOnClose(false));
    RecoveryRequest first = RecoveryRequest.newest().from(new MemoryOrigin(runs));
    CheckpointToken imported;
    try (FasterStore store = FasterStore.recover(config, first)) {
      imported = store.checkpoints().getFirst();
      upsert(store, 0, KEYS / 2, 2);
      store.checkpoint();
    }
    MemoryOrigin shorter = new MemoryOrigin(runs);
    RecoveryRequest later = RecoveryRequest.newest().from(shorter);
    assertThatThrownBy(() -> FasterStore.recover(config, later))
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining("the origin's log is not the checkpoint's: number=2, pieces=");
    assertThat(shorter.isClosed()).isTrue();
    RecoveryRequest named = RecoveryRequest.of(imported);
    RecoveryRequest cut = named.from(new MemoryOrigin(runs.subList(0, runs.size() - 1)));
    assertThatThrownBy(() -> FasterStore.recover(config, cut))
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining("first that differs=none");
    try (FasterStore store = FasterStore.recover(config)) {
      assertHolds(store, 0, KEYS / 2, 2);
      assertHolds(store, KEYS / 2, KEYS, 1);
    }
    RecoveryRequest again = named.from(new MemoryOrigin(runs));
    try (FasterStore store = FasterStore.recover(config, again)) {
      assertHolds(store, 0, KEYS, 1);
    }
  }

  /** Every failure that ends a read reaches the thread that waits for it. */
  @Test
  void anErrorInAReadOfTheOriginEndsTheRead() throws Exception {
    List<Run> runs = exported();
    StoreConfig config = prepare(runs, config("second"));
    for (Error error : List.of(new OutOfMemoryError("a test"), new StackOverflowError())) {
      MemoryOrigin origin = new MemoryOrigin(runs).throwing(error);
      FileDevice files = new FileDevice(config.directory(), config.segmentBytes());
      try (BorrowingDevice device = new BorrowingDevice(files, origin)) {
        CompletableFuture<Optional<IOException>> read = new CompletableFuture<>();
        device.read(
            4096,
            MemorySegment.ofArray(new byte[300]),
            failure -> read.complete(Optional.ofNullable(failure)));
        assertThat(read.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).orElseThrow()).hasCause(error);
        try (ReadQueue queue = device.readQueue(4)) {
          queue.read(3, 4096, MemorySegment.ofArray(new byte[300]));
          assertThat(queue.next(true)).isEqualTo(3);
          assertThat(queue.failure()).hasCause(error);
        }
      }
    }
  }

  /** A former page, with all of its bytes on the heap. */
  @Test
  void aMissReadsItsBlocksAndNoMore() throws Exception {
    List<Run> runs = exported();
    MemoryOrigin origin = new MemoryOrigin(runs, 512).refusing(FOR_EVER);
    try (FasterStore store = open(runs, origin)) {
      assertHolds(store, 0, KEYS, 1);
      assertThat(origin.longestRead()).isPositive().isLessThanOrEqualTo(1024);
    }
  }

  @Test
  void manyThreadsCopyALogAndBuildItsIndex() throws Exception {
    for (boolean hasDigest : List.of(true, false)) {
      List<Run> runs = new ArrayList<>();
      for (Run run : exported()) {
        runs.add(new Run(run.pieces(), run.bytes(), hasDigest ? run.digest() : null));
      }
      StoreConfig config = prepare(runs, config("second"));
      MemoryOrigin origin = new MemoryOrigin(runs).streams(16).refusing(5);
      RecoveryRequest request = RecoveryRequest.newest().from(origin);
      try (FasterStore store = FasterStore.recover(config, request)) {
        store.checkpoints().forEach(store::removeCheckpoint);
        store.copyOrigin();
        assertHolds(store, 0, KEYS, 1);
        upsert(store, 0, KEYS / 2, 2);
        store.checkpoint();
        assertThat(store.bytesToCopy()).isZero();
        assertHolds(store, 0, KEYS / 2, 2);
        assertHolds(store, KEYS / 2, KEYS, 1);
        StoreInvariants.check(store);
      }
      assertThat(origin.isClosed()).isTrue();
      try (Stream<Path> files = Files.walk(directory)) {
        files
            .sorted(Comparator.reverseOrder())
            .filter(file -> !file.equals(directory))
            .forEach(file -> file.toFile().delete());
      }
    }
  }
}
