package io.fasterkv.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.FasterStore;
import io.fasterkv.Lines;
import io.fasterkv.LogScan;
import io.fasterkv.LongSession;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.StoreException.OutOfAddresses;
import io.fasterkv.api.Versions;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.checkpoint.manifest.CheckpointManifest;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.IndexPart;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.LogPart;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.Shape;
import io.fasterkv.checkpoint.manifest.ManifestCodec;
import io.fasterkv.checkpoint.manifest.VersionCut;
import io.fasterkv.spi.StoreImport;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests logs with addresses near the limit. */
class LastAddressTest {
  private static final int PAGE_BYTES = 4096;
  private static final int PAGES = 8;

  private final Lines lines = new Lines();

  @TempDir Path directory;

  private StoreConfig config() {
    return StoreConfig.builder(directory)
        .memoryBytes(1 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes(4 * PAGE_BYTES)
        .segmentBytes(4 * PAGE_BYTES)
        .indexBytes(64 << 10)
        .recordKind(RecordKind.LONGS)
        .logger(lines)
        .build();
  }

  /** An empty store whose log continues at an address. */
  private FasterStore openAt(long address) throws Exception {
    var head =
        new CheckpointManifest(
            1,
            CheckpointKind.FOLD_OVER,
            new Shape(RecordKind.LONGS, PAGE_BYTES, 4 * PAGE_BYTES),
            new VersionCut(1, address, address, address, new TreeMap<>()),
            new LogPart(List.of(), null, List.of()),
            new IndexPart(64, 64, 0, false, null));
    byte[] bytes = ManifestCodec.encode(head).array();
    try (StoreImport.Target target = FasterStore.readExport(bytes, "head").into(directory)) {
      target.finish(List.of());
    }
    return FasterStore.recover(config());
  }

  /** Continuing at 0 would overwrite existing records. */
  @Test
  void aLogWithoutAnotherAddressTakesNoMoreRecordsAndKeepsWhatItHas() throws Exception {
    long written = 0;
    try (FasterStore store = openAt((1L << 48) - PAGES * PAGE_BYTES)) {
      try (LongSession<Void> session = session(store)) {
        while (written < PAGES * PAGE_BYTES) {
          session.upsert(written, written, null);
          written++;
        }
      } catch (OutOfAddresses e) {
        assertThat(e).hasMessageContaining("allowed=up to " + ((1L << 48) - PAGE_BYTES));
      }
      assertThat(written).isEqualTo((PAGES - 1) * (PAGE_BYTES / 24));
      assertThat(store.log().tailAddress()).isGreaterThan((1L << 48) - 2 * PAGE_BYTES);
      assertHolds(store, written);
      try (LongSession<Void> session = session(store)) {
        assertThatThrownBy(() -> session.upsert(-1, 1, null)).isInstanceOf(OutOfAddresses.class);
        session.upsert(written - 1, written - 1, null);
      }
      store.checkpoints().take();
      store.checkpoints().take(CheckpointRequest.full(CheckpointKind.SNAPSHOT));
    }
    for (int generation = 0; generation < 3; generation++) {
      try (FasterStore store = FasterStore.recover(config())) {
        assertHolds(store, written);
        try (LongSession<Void> session = session(store)) {
          assertThatThrownBy(() -> session.upsert(-1, 1, null)).isInstanceOf(OutOfAddresses.class);
        }
        store.checkpoints().take();
      }
    }
  }

  @Test
  void halfOfTheAddressesIsNoLimit() throws Exception {
    try (FasterStore store = openAt((1L << 47) - 2 * PAGE_BYTES)) {
      long written = PAGES * (PAGE_BYTES / 24);
      try (LongSession<Void> session = session(store)) {
        for (long key = 0; key < written; key++) {
          session.upsert(key, key, null);
        }
      }
      store.log().compact();
      assertHolds(store, written);
      assertThat(lines.count("WARNING at least half of the log's addresses are used; "))
          .isEqualTo(1);
    }
  }

  private static LongSession<Void> session(FasterStore store) {
    return store.newSession().longs(LongFunctions.sum());
  }

  private static void assertHolds(FasterStore store, long keys) {
    try (LongSession<Void> session = session(store)) {
      for (long key = 0; key < keys; key++) {
        session.read(key, null);
        assertThat(session.value()).isEqualTo(key);
      }
    }
    long seen = 0;
    try (LogScan scan = store.log().scan(Versions.LIVE)) {
      while (scan.next()) {
        seen++;
      }
    }
    assertThat(seen).isEqualTo(keys);
  }
}
