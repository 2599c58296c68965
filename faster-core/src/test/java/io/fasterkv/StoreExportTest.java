package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.index.HashIndex;
import io.fasterkv.sim.PowerCutFate;
import io.fasterkv.sim.SimulatedDisk;
import io.fasterkv.spi.LogPiece;
import io.fasterkv.spi.StoreExport;
import io.fasterkv.spi.StoreImport;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Tests what an export keeps of its store, and what an import of it accepts, refuses and omits. */
class StoreExportTest extends ExportedStores {
  /** Everything has expired, up to the very end of the log. */
  @Test
  void aVersionWithoutPiecesIsImported() throws Exception {
    SplittableRandom random = new SplittableRandom(5);
    Path linked = Files.createDirectory(directory.resolve("linked"));
    Version version;
    try (FasterStore store = open(null, random)) {
      store.integration().export().close();
      store.log().truncate(store.log().tailAddress());
      try (StoreExport export = store.integration().export()) {
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

  /** The device keeps what an export needs, and only while the export needs it. */
  @Test
  void compactionFreesAnExportsLogOnlyAfterItIsClosed() {
    try (FasterStore store = FasterStore.open(small("store").build())) {
      fill(store, 3_000, 1);
      StoreExport export = store.integration().export();
      fill(store, 3_000, 2);
      long stored = store.log().storedBytes();
      store.log().compact();
      assertThat(store.log().storedBytes()).isGreaterThanOrEqualTo(stored);
      assertThat(keep(export)).isNotEmpty();
      export.close();
      export.close();
      assertThat(store.log().storedBytes()).isLessThan(stored);
    }
  }

  /** Two versions may be exported at a time; the export of the older one may end last. */
  @Test
  void exportsMayOverlap() throws Exception {
    List<Kept> ofFirst;
    byte[] head;
    try (FasterStore store = FasterStore.open(small("store").build())) {
      fill(store, 500, 1);
      try (StoreExport first = store.integration().export()) {
        fill(store, 500, 2);
        try (StoreExport second = store.integration().export()) {
          fill(store, 500, 3);
          assertThat(second.endAddress()).isGreaterThan(first.endAddress());
          keep(second);
        }
        kept.clear();
        ofFirst = keep(first);
        head = first.head();
      }
    }
    write(
        FasterStore.readExport(head, "h"),
        ofFirst,
        directory.resolve("again"),
        new SplittableRandom(1));
    try (FasterStore again = FasterStore.recover(small("again").build())) {
      assertHolds(again, 500, 1);
    }
  }

  /** Stores that share memory could not open together if each took its share of it at once. */
  @Test
  void anIndexThatGrowsTakesWhatTheOldOneUsed() throws Exception {
    try (FasterStore store = FasterStore.open(small("store").build())) {
      fill(store, 500, 1);
      imported(store, "own");
    }
    try (FasterStore store = FasterStore.recover(growing("own").build())) {
      long opened = store.statistics().index().bytes();
      assertThat(opened).isBetween(64L << 10, 128L << 10);
      assertHolds(store, 500, 1);
      fill(store, 50_000, 2);
      while (store.statistics().index().bytes() < 2 * opened) {
        Thread.onSpinWait();
      }
      assertHolds(store, 50_000, 2);
    }
  }

  /** Each deleted key's tombstone is in the log, but the old index has freed its entry. */
  @Test
  void anIndexThatGrowsHasRoomForKeysThatWereDeleted() throws Exception {
    int deleted = 10_000;
    try (FasterStore store = FasterStore.open(small("store").build())) {
      fill(store, deleted, 1);
      long end = store.log().tailAddress();
      try (var session = store.newSession().spans(new BytesFunctions())) {
        for (int key = 0; key < deleted; key++) {
          session.delete(ModelDriver.key(key), null);
        }
      }
      fill(store, 500, 2);
      store.log().compact(end);
      assertThat(store.statistics().index().saturatedChains()).isZero();
      imported(store, "own");
    }
    try (FasterStore store = FasterStore.recover(growing("own").build())) {
      assertThat(store.statistics().index().bytes()).isLessThan(512 << 10);
      assertHolds(store, 500, 2);
      assertThat(seen(store)).hasSize(500);
    }
  }

  /** A store restored for some of the keys has few entries, and a log with all keys. */
  @Test
  void anIndexThatGrowsTakesItsShareIfTheOldOneWasForFewerKeys() throws Exception {
    // Eight for each main bucket, so that the overflow buckets of a usual table are not enough.
    int keys = 49_000;
    StoreConfigBuilder all =
        small("all").memoryBytes(4 << 20).maxMemoryBytes(8 << 20).indexBytes(512 << 10);
    StoreConfigBuilder some =
        growing("some").keyFilter(key -> ByteBuffer.wrap(key.toArray()).getInt() % 8 == 0);
    try (FasterStore store = FasterStore.open(all.maxIndexBytes(0).build())) {
      addOverflowBuckets(store, 512 << 10);
      fill(store, keys, 1);
      assertThat(store.statistics().index().saturatedChains()).isZero();
      imported(store, "some");
    }
    long opened;
    try (FasterStore store = FasterStore.recover(some.build())) {
      opened = store.statistics().index().bytes();
      assertThat(opened).isLessThan(700 << 10);
      imported(store, "again");
    }
    try (FasterStore store = FasterStore.recover(growing("again").build())) {
      assertThat(store.statistics().index().bytes()).isEqualTo(1 << 20);
      assertHolds(store, keys, 1);
    }
  }

  private static void addOverflowBuckets(FasterStore store, long bytes) {
    HashIndex index = Insides.engine(store).index();
    index.sizeLock().lock();
    try {
      assertThat(index.addOverflowBuckets(bytes)).isEqualTo(bytes);
    } finally {
      index.sizeLock().unlock();
    }
  }

  /** Exports a store, and imports that into a directory. */
  private StoreImport imported(FasterStore store, String into) throws Exception {
    kept.clear();
    try (StoreExport export = store.integration().export()) {
      StoreImport imported = FasterStore.readExport(export.head(), "head");
      write(imported, keep(export), directory.resolve(into), new SplittableRandom(1));
      return imported;
    }
  }

  private StoreConfigBuilder growing(String name) {
    return small(name).memoryBytes(4 << 20).indexBytes(1 << 20).maxIndexBytes(0).growingIndex(true);
  }

  /** A store for some of the keys finds, lists and keeps no others. */
  @Test
  void keysOfOthersAreNotThere() throws Exception {
    Version version;
    try (FasterStore store = FasterStore.open(small("store").build())) {
      fill(store, 2_000, 1);
      try (StoreExport export = store.integration().export()) {
        version = new Version(export.head(), keep(export), Map.of());
      }
    }
    StoreImport imported = FasterStore.readExport(version.head(), "head");
    write(imported, version.pieces(), directory.resolve("own"), new SplittableRandom(1));
    StoreConfig config =
        small("own").keyFilter(key -> ByteBuffer.wrap(key.toArray()).getInt() % 2 == 0).build();
    try (FasterStore store = FasterStore.recover(config)) {
      store.checkpoints().list().forEach(store.checkpoints()::remove);
      assertThat(seen(store)).hasSize(1_000).allMatch(key -> key % 2 == 0);
      long before = store.statistics().logBytes();
      store.log().compact();
      assertThat(seen(store)).hasSize(1_000);
      assertThat(store.statistics().compaction().movedRecords()).isEqualTo(1_000);
      assertThat(store.statistics().logBytes()).isLessThan(before * 2 / 3);
      StoreInvariants.check(store);
    }
  }

  /** The importer has closed the files, and the store never wrote to them. */
  @Test
  void theFirstCheckpointOfAnImportSurvivesAPowerCut() throws Exception {
    Version version;
    try (FasterStore store = FasterStore.open(small("store").build())) {
      fill(store, 2_000, 1);
      try (StoreExport export = store.integration().export()) {
        version = new Version(export.head(), keep(export), Map.of());
      }
    }
    for (CheckpointKind kind : List.of(CheckpointKind.FOLD_OVER, CheckpointKind.SNAPSHOT)) {
      SimulatedDisk disk = new SimulatedDisk();
      StoreImport imported = FasterStore.readExport(version.head(), "head");
      write(imported, version.pieces(), disk.directory(), new SplittableRandom(1));
      try (FasterStore store = FasterStore.recover(small(disk.directory()).build())) {
        fill(store, 100, 2);
        store.checkpoints().take(CheckpointRequest.full(kind));
        SimulatedDisk left = disk.afterPowerCut(disk.steps(), PowerCutFate.NONE);
        try (FasterStore again = FasterStore.recover(small(left.directory()).build())) {
          assertHolds(again, 0, 100, 2);
          assertHolds(again, 100, 2_000, 1);
        }
      }
    }
  }

  /** A buffer that is returned twice would be lent to two users at a time. */
  @Test
  void aDigestThatIsClosedTwiceGivesItsBufferBackOnce() {
    try (FasterStore store = FasterStore.open(small("store").build())) {
      fill(store, 100, 1);
      try (StoreExport export = store.integration().export()) {
        export.awaitWritten();
        LogPiece piece = export.pieces(0).getFirst();
        MemorySegment bytes = MemorySegment.ofArray(new byte[piece.bytes()]);
        export.read(piece, bytes);
        long free = store.statistics().memory().scratchFreeBytes();
        StoreExport.Digest digest = export.tryDigest();
        digest.add(piece, bytes);
        digest.close();
        digest.close();
        assertThat(store.statistics().memory().scratchFreeBytes()).isEqualTo(free);
        assertThatThrownBy(() -> digest.add(piece, bytes))
            .isInstanceOf(IllegalStateException.class);
        assertThat(digest.bytes()).isNotEmpty();
      }
    }
  }

  /** An index that has its first size again has the chains that it would have without a resize. */
  @Test
  void aLogOfAnIndexThatGrewAndShrankIsImported() throws Exception {
    Version version;
    try (FasterStore store = FasterStore.open(small("store").indexBytes(64 << 10).build())) {
      fill(store, 2_000, 1);
      store.index().grow();
      fill(store, 2_000, 2);
      store.index().shrink();
      fill(store, 100, 3);
      fill(store, 2_000, 2);
      try (StoreExport export = store.integration().export()) {
        version = new Version(export.head(), keep(export), new HashMap<>());
      }
    }
    StoreImport imported = FasterStore.readExport(version.head(), "head");
    write(imported, version.pieces(), directory.resolve("again"), new SplittableRandom(1));
    try (FasterStore again = FasterStore.recover(small("again").indexBytes(64 << 10).build())) {
      assertHolds(again, 2_000, 2);
    }
  }

  /** Below its first size an index has chains that join: such a log needs an image of the index. */
  @Test
  void aLogOfAHalvedIndexIsRefusedAsAStoreAndReadAsRecords() throws Exception {
    Version version;
    try (FasterStore store = FasterStore.open(small("store").indexBytes(4 << 10).build())) {
      fill(store, 2_000, 2);
      store.index().shrink();
      store.index().shrink();
      try (StoreExport export = store.integration().export()) {
        version = new Version(export.head(), keep(export), new HashMap<>());
      }
    }
    for (int key = 0; key < 2_000; key++) {
      version.model().put(key, value(key, 2));
    }
    checkRecords(version, 0);
    StoreImport imported = FasterStore.readExport(version.head(), "head");
    write(imported, version.pieces(), directory.resolve("again"), new SplittableRandom(1));
    assertThatThrownBy(() -> FasterStore.recover(small("again").build()))
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining("halved");
  }

  @Test
  void damagedPiecesAreRefusedByName() throws Exception {
    Version version;
    try (FasterStore store = FasterStore.open(small("store").build())) {
      fill(store, 300, 1);
      try (StoreExport export = store.integration().export()) {
        version = new Version(export.head(), keep(export), Map.of());
      }
    }
    for (int at = 0; at < version.head().length; at++) {
      byte[] wrong = version.head().clone();
      wrong[at] ^= 1;
      assertThatThrownBy(() -> FasterStore.readExport(wrong, "the head"))
          .hasMessageContaining("the head");
    }
    StoreImport imported = FasterStore.readExport(version.head(), "head");
    for (long end : List.of(imported.beginAddress() - 1, imported.endAddress() + 1)) {
      assertThatThrownBy(() -> imported.until(end)).hasMessageContaining("end=" + end);
    }
    Kept second = version.pieces().get(1);
    byte[] wrong = second.bytes().clone();
    wrong[100] ^= 1;
    try (StoreImport.Target target = imported.into(directory.resolve("again"))) {
      assertThatThrownBy(
              () -> target.write(second.piece(), MemorySegment.ofArray(wrong), "file=x, offset=7"))
          .isInstanceOf(Corrupt.class)
          .hasMessageContaining("file=x, offset=7");
      List<LogPiece> gap = new ArrayList<>(version.pieces().stream().map(Kept::piece).toList());
      gap.remove(1);
      assertThatThrownBy(() -> target.finish(gap)).isInstanceOf(Corrupt.class);
    }
    assertThatThrownBy(() ->
            imported
                .records()
                .read(second.piece(), MemorySegment.ofArray(wrong), "file=x", (k, v, t) -> {}))
        .isInstanceOf(Corrupt.class)
        .hasMessageContaining("file=x");
    assertThatThrownBy(() -> FasterStore.recover(small("again").build()))
        .isInstanceOf(BadConfig.class);
  }

  private static void fill(FasterStore store, int keys, int generation) {
    fill(store, 0, keys, generation);
  }

  private static void fill(FasterStore store, int from, int until, int generation) {
    try (var session = store.newSession().spans(new BytesFunctions())) {
      for (int key = from; key < until; key++) {
        session.upsert(ModelDriver.key(key), ByteSpan.of(value(key, generation)), null);
      }
    }
  }

  private static void assertHolds(FasterStore store, int keys, int generation) {
    assertHolds(store, 0, keys, generation);
  }

  private static void assertHolds(FasterStore store, int from, int until, int generation) {
    try (var session = store.newSession().spans(new BytesFunctions())) {
      for (int key = from; key < until; key++) {
        BytesFunctions.Result result = new BytesFunctions.Result();
        assertThat(session.read(ModelDriver.key(key), null, result, null)).isEqualTo(Status.FOUND);
        assertThat(result.value).isEqualTo(value(key, generation));
      }
    }
  }
}
