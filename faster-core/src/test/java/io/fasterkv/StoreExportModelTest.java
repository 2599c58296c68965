package io.fasterkv;

import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.spi.StoreExport;
import io.fasterkv.spi.StoreImport;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests generations of stores, each imported from an export of an earlier one, against a model. */
@Tag("seeds")
class StoreExportModelTest extends ExportedStores {
  private static final int GENERATIONS = 25;
  private static final int EXPORTS = 4;

  static LongStream seeds() {
    return Seeds.fresh(4);
  }

  /**
   * Several stores in sequence, each created from a version that the store before it has exported
   * while it continued. Each piece is stored once, however many versions contain it.
   */
  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void eachStoreFindsTheExportsContentsAndNoPieceIsNeededTwice(long seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    boolean hasLargeValues = random.nextBoolean();
    Version version = null;
    for (int generation = 0; generation < GENERATIONS; generation++) {
      Map<Integer, byte[]> model = new HashMap<>(version == null ? Map.of() : version.model());
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
            store
                .log()
                .compact(
                    store.log().beginAddress()
                        + random.nextLong(store.statistics().logBytes() + 1));
          }
          if (store.statistics().index().bytes() < 100_000 && random.nextInt(10) == 0) {
            store.index().grow();
          }
          try (StoreExport export = store.integration().export()) {
            Map<Integer, byte[]> exported = new HashMap<>(model);
            driver.someOperations(random.nextInt(400));
            if (random.nextInt(4) == 0) {
              store.log().compact();
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
      version.pieces().forEach(one -> onlyItsOwn.put(one.piece().from(), one));
      kept.clear();
      kept.putAll(onlyItsOwn);
      files.clear();
      version.files().forEach(file -> files.put(file.from(), file));
    }
  }

  /** A store created from the start of a log, wherever that part ends, and later records. */
  private void checkBeginning(Version version, SplittableRandom random, long seed)
      throws IOException {
    int split = random.nextInt(version.pieces().size() + 1);
    StoreImport whole = FasterStore.readExport(version.head(), "head");
    StoreImport beginning =
        whole.until(
            split == 0 ? whole.beginAddress() : version.pieces().get(split - 1).piece().until());
    Path own = directory.resolve("store-" + directories++);
    write(beginning, version.pieces().subList(0, split), own, random);
    StoreConfig config = small(own, random).indexBytes(indexBytes(beginning, random)).build();
    try (FasterStore store = FasterStore.recover(config)) {
      try (var session = store.newSession().spans(new BytesFunctions())) {
        StoreImport.Records records = whole.records();
        for (Kept one : version.pieces().subList(split, version.pieces().size())) {
          records.read(
              one.piece(),
              MemorySegment.ofArray(one.bytes()),
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
      Map<Integer, byte[]> model = new HashMap<>(version.model());
      try (ModelDriver driver = new ModelDriver(store, SessionMode.BLOCKING, random, model, seed)) {
        driver.checkAll();
        driver.someOperations(200);
        driver.checkAll();
      }
      StoreInvariants.check(store);
    }
  }
}
