package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.MemoryOrigin.Run;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.CheckpointKind;
import io.fasterkv.api.CheckpointRequest;
import io.fasterkv.api.LogPiece;
import io.fasterkv.api.RecoveryRequest;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.Versions;
import io.fasterkv.sim.PowerCutFate;
import io.fasterkv.sim.SimulatedDisk;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Versions that leave a store piece by piece, and what is made of them elsewhere. */
class StoreExportTest {
  private static final int GENERATIONS = 25;
  private static final int EXPORTS = 4;

  @TempDir Path directory;

  /** The pieces that were kept so far, by their first address. */
  private final TreeMap<Long, Kept> kept = new TreeMap<>();

  /** The same as files of several pieces. */
  private final TreeMap<Long, Run> files = new TreeMap<>();

  private int directories;

  private record Kept(LogPiece piece, byte[] bytes) {}

  /** What is needed to have a version again. */
  private record Version(
      byte[] head, List<Kept> pieces, List<Run> files, Map<Integer, byte[]> model) {
    Version(byte[] head, List<Kept> pieces, Map<Integer, byte[]> model) {
      this(head, pieces, List.of(), model);
    }
  }

  static LongStream seeds() {
    return Seeds.fresh(4);
  }

  /**
   * One store after the other, each made of a version that the one before has exported while it
   * went on; each piece is kept once, however many versions have it.
   */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void eachStoreFindsWhatTheExportHadAndNoPieceIsNeededTwice(long seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    boolean hasLargeValues = random.nextBoolean();
    Version version = null;
    for (int generation = 0; generation < GENERATIONS; generation++) {
      Map<Integer, byte[]> model = new HashMap<>(version == null ? Map.of() : version.model);
      try (FasterStore store = open(version, random);
          ModelDriver driver =
              new ModelDriver(store, SessionMode.BLOCKING, random, model, seed)
                  .withLargeValues(hasLargeValues ? 20 : 0)) {
        if (version != null) {
          driver.checkAll();
          StoreInvariants.check(store);
        }
        for (int i = 0; i < EXPORTS; i++) {
          driver.someOperations(random.nextInt(400));
          if (random.nextInt(4) == 0) {
            store.compact(store.beginAddress() + random.nextLong(store.logBytes() + 1));
          }
          if (store.indexStatistics().bytes() < 100_000 && random.nextInt(10) == 0) {
            store.growIndex();
          }
          try (StoreExport export = store.export()) {
            Map<Integer, byte[]> exported = new HashMap<>(model);
            driver.someOperations(random.nextInt(400));
            if (random.nextInt(4) == 0) {
              store.compact();
            }
            List<Kept> pieces = keep(export, random);
            version = new Version(export.head(), pieces, files(export), exported);
          }
          if (!hasLargeValues) {
            checkRecords(version, seed);
            checkBeginning(version, random, seed);
          }
        }
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed + ", generation " + generation, e);
      }
      TreeMap<Long, Kept> onlyItsOwn = new TreeMap<>();
      version.pieces.forEach(one -> onlyItsOwn.put(one.piece.from(), one));
      kept.clear();
      kept.putAll(onlyItsOwn);
      files.clear();
      version.files.forEach(file -> files.put(file.from(), file));
    }
  }

  /** A store that is made of the beginning of a log, wherever that ends, and of records behind. */
  private void checkBeginning(Version version, SplittableRandom random, long seed)
      throws IOException {
    int split = random.nextInt(version.pieces.size() + 1);
    StoreImport whole = StoreImport.of(version.head, "head");
    StoreImport beginning =
        whole.until(
            split == 0 ? whole.beginAddress() : version.pieces.get(split - 1).piece.until());
    Path own = directory.resolve("store-" + directories++);
    write(beginning, version.pieces.subList(0, split), own, random);
    StoreConfig config = small(own, random).indexBytes(indexBytes(beginning, random)).build();
    try (FasterStore store = FasterStore.recover(config)) {
      try (var session = store.newSession(new BytesFunctions(), SessionMode.BLOCKING)) {
        StoreImport.Records records = whole.records();
        for (Kept one : version.pieces.subList(split, version.pieces.size())) {
          records.read(
              one.piece,
              MemorySegment.ofArray(one.bytes),
              "piece",
              (key, value, isTombstone) -> {
                if (isTombstone) {
                  session.delete(key, null);
                } else {
                  session.upsert(key, value, null);
                }
              });
        }
      }
      Map<Integer, byte[]> model = new HashMap<>(version.model);
      try (ModelDriver driver = new ModelDriver(store, SessionMode.BLOCKING, random, model, seed)) {
        driver.checkAll();
        driver.someOperations(200);
        driver.checkAll();
      }
      StoreInvariants.check(store);
    }
  }

  /** All that was there has expired, up to the very end of the log. */
  @Test
  void aVersionWithoutAnyPieceComesBack() throws Exception {
    SplittableRandom random = new SplittableRandom(5);
    Path linked = Files.createDirectory(directory.resolve("linked"));
    Version version;
    try (FasterStore store = open(null, random)) {
      store.export().close();
      store.truncate(store.tailAddress());
      try (StoreExport export = store.export()) {
        export.awaitWritten();
        assertThat(export.pieces(0)).isEmpty();
        export.linkSegments(linked);
        version = new Version(export.head(), List.of(), Map.of());
      }
    }
    assertThat(linked).isEmptyDirectory();
    try (FasterStore store = open(version, random);
        ModelDriver driver =
            new ModelDriver(store, SessionMode.BLOCKING, random, new HashMap<>(), 5)) {
      driver.someOperations(300);
      driver.checkAll();
    }
  }

  private FasterStore open(Version version, SplittableRandom random) throws IOException {
    Path own = directory.resolve("store-" + directories++);
    StoreConfig.Builder builder = small(own, random);
    if (version == null) {
      return FasterStore.open(builder.indexBytes(4096).build());
    }
    StoreImport imported = StoreImport.of(version.head, "head");
    builder.indexBytes(indexBytes(imported, random));
    RecoveryRequest request = RecoveryRequest.newest();
    if (random.nextBoolean()) {
      try (StoreImport.Target target = imported.into(own)) {
        target.finish(version.files.stream().flatMap(file -> file.pieces().stream()).toList());
      }
      request = request.from(new MemoryOrigin(version.files).refusing(random.nextInt(3)));
    } else {
      write(imported, version.pieces, own, random);
      request = random.nextBoolean() ? request : request.withoutVerifying();
    }
    FasterStore store = FasterStore.recover(builder.build(), request);
    store.checkpoints().forEach(store::removeCheckpoint);
    if (random.nextBoolean()) {
      store.copyOrigin();
    }
    return store;
  }

  private static StoreConfig.Builder small(Path directory, SplittableRandom random) {
    return StoreConfig.builder(directory)
        .memoryBytes(8 << 20)
        .pageBytes(4096)
        .segmentBytes(32768)
        .logMemoryBytes(4096L << random.nextInt(2, 5))
        .scratchBytes(256 << 10)
        .mutableFraction(random.nextInt(3) / 2.0)
        .deleteOnClose(true);
  }

  private static long indexBytes(StoreImport imported, SplittableRandom random) {
    return Math.min(1 << 20, imported.leastIndexBytes() * random.nextInt(2, 6));
  }

  private static void write(
      StoreImport imported, List<Kept> pieces, Path into, SplittableRandom random)
      throws IOException {
    try (StoreImport.Target target = imported.into(into)) {
      List<Kept> inAnyOrder = new ArrayList<>(pieces);
      while (!inAnyOrder.isEmpty()) {
        Kept one = inAnyOrder.remove(random.nextInt(inAnyOrder.size()));
        target.write(one.piece, MemorySegment.ofArray(one.bytes), "piece");
      }
      target.finish(pieces.stream().map(Kept::piece).toList());
    }
  }

  /** Reads what is new, and returns all that the version needs. */
  private List<Kept> keep(StoreExport export) {
    return keep(export, new SplittableRandom(1));
  }

  private List<Kept> keep(StoreExport export, SplittableRandom random) {
    export.awaitWritten();
    long from = kept.isEmpty() ? 0 : kept.lastEntry().getValue().piece.until();
    List<LogPiece> fresh = export.pieces(from);
    for (int next = 0; next < fresh.size(); ) {
      int end = Math.min(fresh.size(), next + random.nextInt(1, 6));
      keepFile(export, fresh.subList(next, end), random.nextInt(4) > 0);
      next = end;
    }
    List<LogPiece> all = export.pieces(0);
    List<Kept> needed = all.stream().map(piece -> kept.get(piece.from())).toList();
    assertThat(needed).extracting(Kept::piece).isEqualTo(all);
    assertThat(all.getFirst().from()).isLessThanOrEqualTo(export.beginAddress());
    assertThat(all.getLast().until()).isEqualTo(export.endAddress());
    return needed;
  }

  private void keepFile(StoreExport export, List<LogPiece> pieces, boolean withDigest) {
    List<byte[]> contents = new ArrayList<>();
    try (StoreExport.Digest digest = export.tryDigest()) {
      for (LogPiece piece : pieces) {
        byte[] bytes = new byte[piece.bytes()];
        export.read(piece, MemorySegment.ofArray(bytes));
        assertThat(kept.put(piece.from(), new Kept(piece, bytes))).isNull();
        contents.add(bytes);
        digest.add(piece, MemorySegment.ofArray(bytes));
      }
      Run run = new Run(pieces, contents, withDigest ? digest.bytes() : null);
      files.put(run.from(), run);
    }
  }

  /** Those files that an export needs, also if it does not need all that is in them. */
  private List<Run> files(StoreExport export) {
    return files.values().stream().filter(file -> file.until() > export.beginAddress()).toList();
  }

  private static void checkRecords(Version version, long seed) {
    Map<Integer, byte[]> seen = new HashMap<>();
    StoreImport.Records records = StoreImport.of(version.head, "head").records();
    for (Kept one : version.pieces) {
      records.read(
          one.piece,
          MemorySegment.ofArray(one.bytes),
          "piece",
          (key, value, isTombstone) -> {
            int number = ByteBuffer.wrap(key.toArray()).getInt();
            if (isTombstone) {
              seen.remove(number);
            } else {
              seen.put(number, value.toArray());
            }
          });
    }
    assertThat(seen.keySet()).as("seed " + seed).isEqualTo(version.model.keySet());
    seen.forEach(
        (key, value) -> assertThat(value).as("seed " + seed).isEqualTo(version.model.get(key)));
  }

  /** What an export needs stays on the device, and no longer. */
  @Test
  void compactionTakesAwayWhatAnExportHasOnlyWhenItIsClosed() {
    try (FasterStore store = FasterStore.open(small("store").build())) {
      fill(store, 3_000, 1);
      StoreExport export = store.export();
      fill(store, 3_000, 2);
      long stored = store.storedBytes();
      store.compact();
      assertThat(store.storedBytes()).isGreaterThanOrEqualTo(stored);
      assertThat(keep(export)).isNotEmpty();
      export.close();
      export.close();
      assertThat(store.storedBytes()).isLessThan(stored);
    }
  }

  /** Two versions may be on their way out at a time; the older one may be ended last. */
  @Test
  void exportsMayOverlap() throws Exception {
    List<Kept> ofFirst;
    byte[] head;
    try (FasterStore store = FasterStore.open(small("store").build())) {
      fill(store, 500, 1);
      try (StoreExport first = store.export()) {
        fill(store, 500, 2);
        try (StoreExport second = store.export()) {
          fill(store, 500, 3);
          assertThat(second.endAddress()).isGreaterThan(first.endAddress());
          keep(second);
        }
        kept.clear();
        ofFirst = keep(first);
        head = first.head();
      }
    }
    write(StoreImport.of(head, "h"), ofFirst, directory.resolve("again"), new SplittableRandom(1));
    try (FasterStore again = FasterStore.recover(small("again").build())) {
      assertHolds(again, 500, 1);
    }
  }

  /** A store that is there for some keys sees, lists and keeps no others. */
  @Test
  void keysOfOthersAreNotThere() throws Exception {
    Version version;
    try (FasterStore store = FasterStore.open(small("store").build())) {
      fill(store, 2_000, 1);
      try (StoreExport export = store.export()) {
        version = new Version(export.head(), keep(export), Map.of());
      }
    }
    StoreImport imported = StoreImport.of(version.head, "head");
    write(imported, version.pieces, directory.resolve("own"), new SplittableRandom(1));
    StoreConfig config =
        small("own").keyFilter(key -> ByteBuffer.wrap(key.toArray()).getInt() % 2 == 0).build();
    try (FasterStore store = FasterStore.recover(config)) {
      store.checkpoints().forEach(store::removeCheckpoint);
      assertThat(seen(store)).hasSize(1_000).allMatch(key -> key % 2 == 0);
      long before = store.logBytes();
      store.compact();
      assertThat(seen(store)).hasSize(1_000);
      assertThat(store.compactionStats().movedRecords()).isEqualTo(1_000);
      assertThat(store.logBytes()).isLessThan(before * 2 / 3);
      StoreInvariants.check(store);
    }
  }

  private static Collection<Integer> seen(FasterStore store) {
    List<Integer> keys = new ArrayList<>();
    try (LogScan scan = store.scan(Versions.LIVE)) {
      while (scan.next()) {
        keys.add(ByteBuffer.wrap(scan.key().toArray()).getInt());
      }
    }
    return keys;
  }

  /** The files were closed by who has imported them, and the store never wrote to them. */
  @Test
  void theFirstCheckpointOfAnImportSurvivesAPowerCut() throws Exception {
    Version version;
    try (FasterStore store = FasterStore.open(small("store").build())) {
      fill(store, 2_000, 1);
      try (StoreExport export = store.export()) {
        version = new Version(export.head(), keep(export), Map.of());
      }
    }
    for (CheckpointKind kind : List.of(CheckpointKind.FOLD_OVER, CheckpointKind.SNAPSHOT)) {
      SimulatedDisk disk = new SimulatedDisk();
      StoreImport imported = StoreImport.of(version.head, "head");
      write(imported, version.pieces, disk.directory(), new SplittableRandom(1));
      try (FasterStore store = FasterStore.recover(small(disk.directory()).build())) {
        fill(store, 100, 2);
        store.checkpoint(CheckpointRequest.full(kind));
        SimulatedDisk left = disk.afterPowerCut(disk.steps(), PowerCutFate.NONE);
        try (FasterStore again = FasterStore.recover(small(left.directory()).build())) {
          assertHolds(again, 0, 100, 2);
          assertHolds(again, 100, 2_000, 1);
        }
      }
    }
  }

  /** A buffer that came back twice would be lent to two at a time. */
  @Test
  void aDigestThatIsClosedTwiceGivesItsBufferBackOnce() {
    try (FasterStore store = FasterStore.open(small("store").build())) {
      fill(store, 100, 1);
      try (StoreExport export = store.export()) {
        export.awaitWritten();
        LogPiece piece = export.pieces(0).getFirst();
        MemorySegment bytes = MemorySegment.ofArray(new byte[piece.bytes()]);
        export.read(piece, bytes);
        long free = store.memoryUse().scratchFreeBytes();
        StoreExport.Digest digest = export.tryDigest();
        digest.add(piece, bytes);
        digest.close();
        digest.close();
        assertThat(store.memoryUse().scratchFreeBytes()).isEqualTo(free);
        assertThatThrownBy(() -> digest.add(piece, bytes))
            .isInstanceOf(IllegalStateException.class);
        assertThat(digest.bytes()).isNotEmpty();
      }
    }
  }

  /** A halved index has chains that meet: such a log has no way back into an index of its own. */
  @Test
  void aLogOfAHalvedIndexIsRefusedAsAStoreAndReadAsRecords() throws Exception {
    Version version;
    try (FasterStore store = FasterStore.open(small("store").build())) {
      fill(store, 2_000, 1);
      store.growIndex();
      fill(store, 2_000, 2);
      store.shrinkIndex();
      try (StoreExport export = store.export()) {
        version = new Version(export.head(), keep(export), new HashMap<>());
      }
    }
    for (int key = 0; key < 2_000; key++) {
      version.model.put(key, value(key, 2));
    }
    checkRecords(version, 0);
    StoreImport imported = StoreImport.of(version.head, "head");
    write(imported, version.pieces, directory.resolve("again"), new SplittableRandom(1));
    assertThatThrownBy(() -> FasterStore.recover(small("again").build()))
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining("halved");
  }

  @Test
  void whatIsNotWhatWasWrittenIsRefusedByName() throws Exception {
    Version version;
    try (FasterStore store = FasterStore.open(small("store").build())) {
      fill(store, 300, 1);
      try (StoreExport export = store.export()) {
        version = new Version(export.head(), keep(export), Map.of());
      }
    }
    for (int at = 0; at < version.head.length; at++) {
      byte[] wrong = version.head.clone();
      wrong[at] ^= 1;
      assertThatThrownBy(() -> StoreImport.of(wrong, "the head")).hasMessageContaining("the head");
    }
    StoreImport imported = StoreImport.of(version.head, "head");
    for (long end : List.of(imported.beginAddress() - 1, imported.endAddress() + 1)) {
      assertThatThrownBy(() -> imported.until(end)).hasMessageContaining("end=" + end);
    }
    Kept second = version.pieces.get(1);
    byte[] wrong = second.bytes.clone();
    wrong[100] ^= 1;
    try (StoreImport.Target target = imported.into(directory.resolve("again"))) {
      assertThatThrownBy(
              () -> target.write(second.piece, MemorySegment.ofArray(wrong), "file=x, offset=7"))
          .isInstanceOf(Corrupt.class)
          .hasMessageContaining("file=x, offset=7");
      List<LogPiece> gap = new ArrayList<>(version.pieces.stream().map(Kept::piece).toList());
      gap.remove(1);
      assertThatThrownBy(() -> target.finish(gap)).isInstanceOf(Corrupt.class);
    }
    assertThatThrownBy(() ->
            imported
                .records()
                .read(second.piece, MemorySegment.ofArray(wrong), "file=x", (k, v, t) -> {}))
        .isInstanceOf(Corrupt.class)
        .hasMessageContaining("file=x");
    assertThatThrownBy(() -> FasterStore.recover(small("again").build()))
        .isInstanceOf(BadConfig.class);
  }

  private StoreConfig.Builder small(String name) {
    return small(directory.resolve(name));
  }

  private static StoreConfig.Builder small(Path own) {
    return StoreConfig.builder(own)
        .memoryBytes(1 << 20)
        .pageBytes(4096)
        .logMemoryBytes(32 << 10)
        .segmentBytes(32768)
        .indexBytes(128 << 10)
        .maxIndexBytes(256 << 10)
        .deleteOnClose(true);
  }

  private static void fill(FasterStore store, int keys, int generation) {
    try (var session = store.newSession(new BytesFunctions(), SessionMode.BLOCKING)) {
      for (int key = 0; key < keys; key++) {
        session.upsert(ModelDriver.key(key), ByteSpan.of(value(key, generation)), null);
      }
    }
  }

  private static void assertHolds(FasterStore store, int keys, int generation) {
    assertHolds(store, 0, keys, generation);
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
    return ByteBuffer.allocate(40).putInt(key).putInt(generation).array();
  }
}
