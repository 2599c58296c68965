package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.index.IndexWalk;
import io.fasterkv.sim.DiskFaults;
import io.fasterkv.sim.SimulatedDisk;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests moving the log's begin address, by expiry and compaction, during reads, scans, cuts and
 * checkpoints.
 */
class TruncationTest {
  private static final int PAGE_BYTES = 4096;
  private static final int KEYS = 2000;

  @TempDir Path directory;

  private StoreConfigBuilder config() {
    return StoreConfig.builder(directory)
        .memoryBytes(1 << 20)
        .logMemoryBytes(8 * PAGE_BYTES)
        .pageBytes(PAGE_BYTES)
        .segmentBytes(PAGE_BYTES)
        .indexBytes(1 << 16)
        .recordKind(RecordKind.LONGS);
  }

  private static LongSession<Void> session(FasterStore store) {
    return store.newSession().longs(LongFunctions.sum());
  }

  private static void add(LongSession<Void> session, int from, int until) {
    for (int key = from; key < until; key++) {
      session.rmw(key, key + 1, null);
    }
  }

  private static void assertHas(FasterStore store, int from, int until) {
    try (LongSession<Void> session = session(store)) {
      for (int key = 0; key < KEYS; key++) {
        boolean isThere = key >= from && key < until;
        assertThat(session.read(key, null))
            .as("key " + key)
            .isEqualTo(isThere ? Status.FOUND : Status.NOT_FOUND);
        assertThat(session.value()).as("key " + key).isEqualTo(isThere ? key + 1 : 0);
      }
    }
  }

  private boolean has(int segment) {
    return Files.exists(directory.resolve("log." + segment));
  }

  @Test
  void expiredRecordsAreNotFoundInMemoryOrOnDisk() {
    try (FasterStore store = FasterStore.open(config().build());
        LongSession<Void> session = session(store)) {
      add(session, 0, 1000);
      long onDisk = store.log().tailAddress();
      add(session, 1000, 1900);
      long inMemory = store.log().tailAddress();
      add(session, 1900, KEYS);
      store.log().truncate(onDisk);
      assertHas(store, 1000, KEYS);
      assertThat(has(0)).isFalse();
      store.log().truncate(inMemory);
      assertHas(store, 1900, KEYS);
      StoreInvariants.check(store);
      store.log().truncate(onDisk);
      assertThat(store.log().beginAddress()).isEqualTo(inMemory);
      store.log().truncate(store.log().tailAddress());
      assertHas(store, 0, 0);
      assertThat(store.statistics().logBytes()).isZero();
      assertThat(IndexWalk.entries(Insides.engine(store).index().soleTable())).isEmpty();
      add(session, 0, KEYS);
      assertHas(store, 0, KEYS);
      StoreInvariants.check(store);
    }
  }

  @Test
  void anAddressOutsideTheLogIsRefused() {
    try (FasterStore store = FasterStore.open(config().build())) {
      assertThatThrownBy(() -> store.log().truncate(store.log().tailAddress() + 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("address=65, allowed=0 to 64");
      assertThatThrownBy(() -> store.log().truncate(-1))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  /** Without a sweep, operations free the entries of dropped chains that they find. */
  @Test
  void operationsFreeTheEntriesOfDroppedChains() {
    try (FasterStore store = FasterStore.open(config().build());
        LongSession<Void> session = session(store)) {
      add(session, 0, 100);
      store.checkpoints().take();
      // Like a truncation whose sweep has not run yet.
      Insides.engine(store).log().truncate(Insides.engine(store).log().flushedAddress());
      assertThat(IndexWalk.entries(Insides.engine(store).index().soleTable())).hasSize(100);
      for (int key = 0; key < 50; key++) {
        assertThat(session.read(key, null)).isEqualTo(Status.NOT_FOUND);
        assertThat(session.delete(key + 50, null)).isEqualTo(Status.NOT_FOUND);
      }
      assertThat(IndexWalk.entries(Insides.engine(store).index().soleTable())).isEmpty();
    }
  }

  /** The read is in progress when its record is moved: the read must not miss it. */
  @Test
  void aPendingReadFindsARecordThatCompactionMoves() {
    try (FasterStore store = FasterStore.open(config().build());
        LongSession<Void> session = session(store);
        LongSession<Integer> pending =
            store
                .newSession()
                .mode(SessionMode.PENDING)
                .longs(
                    new LongFunctions<>() {
                      @Override
                      public long initialUpdater(long key, long input) {
                        return input;
                      }

                      @Override
                      public long updater(long key, long input, long oldValue) {
                        return input;
                      }

                      @Override
                      public void completionCallback(
                          Status status, long key, long value, Integer context) {
                        assertThat(status).isEqualTo(Status.FOUND);
                        assertThat(value).isEqualTo(context + 1);
                      }
                    })) {
      add(session, 0, KEYS);
      for (int key = 0; key < 20; key++) {
        assertThat(pending.read(key, key)).isEqualTo(Status.PENDING);
      }
      assertThat(store.log().compact()).isPositive();
      assertThat(has(0)).isFalse();
      assertThat(pending.completePending(true)).isZero();
    }
  }

  /** The same if the record has expired: the read must not find it. */
  @Test
  void aPendingReadDoesNotFindExpiredRecords() {
    try (FasterStore store = FasterStore.open(config().recordKind(RecordKind.SPANS).build());
        var session = store.newSession().mode(SessionMode.PENDING).spans(new BytesFunctions())) {
      for (int key = 0; key < 400; key++) {
        session.upsert(ModelDriver.key(key), ByteSpan.of(new byte[100]), null);
      }
      BytesFunctions.Result result = new BytesFunctions.Result();
      assertThat(session.read(ModelDriver.key(0), null, result, null)).isEqualTo(Status.PENDING);
      store.log().truncate(store.log().tailAddress());
      session.completePending(true);
      assertThat(result.completed).isEqualTo(Status.NOT_FOUND);
    }
  }

  @Test
  void aCutShowsRecordsExpiredSince() {
    try (FasterStore store = FasterStore.open(config().build());
        LongSession<Void> session = session(store)) {
      add(session, 0, KEYS);
      Set<Long> seen = new HashSet<>();
      try (LogCut cut = store.log().cut();
          LogScan scan = cut.scan()) {
        while (scan.next()) {
          if (seen.size() == KEYS / 2) {
            store.log().truncate(store.log().tailAddress());
          }
          seen.add(scan.key().getLong(0));
        }
        assertThat(has(0)).isTrue();
      }
      assertThat(seen).hasSize(KEYS);
      assertThat(has(0)).isFalse();
      assertHas(store, 0, 0);
    }
  }

  @Test
  void aCheckpointKeepsItsLogUntilItIsRemoved() {
    CheckpointToken first;
    CheckpointToken second;
    try (FasterStore store = FasterStore.open(config().build());
        LongSession<Void> session = session(store)) {
      add(session, 0, 1000);
      first = store.checkpoints().take();
      long address = store.log().tailAddress();
      add(session, 1000, KEYS);
      store.log().truncate(address);
      second = store.checkpoints().take();
      assertThat(has(0)).isTrue();
      assertThat(store.checkpoints().list()).containsExactly(first, second);
    }
    try (FasterStore store = FasterStore.recover(config().build(), second)) {
      assertHas(store, 1000, KEYS);
      assertThat(store.checkpoints().list()).containsExactly(first, second);
      assertThat(has(0)).isTrue();
      store.checkpoints().remove(first);
      assertThat(has(0)).isFalse();
      assertThatThrownBy(() -> store.checkpoints().remove(first))
          .isInstanceOf(BadConfig.class)
          .hasMessageContaining("number=1, allowed=[2]");
      assertHas(store, 1000, KEYS);
    }
    try (FasterStore store = FasterStore.recover(config().build())) {
      assertHas(store, 1000, KEYS);
      StoreInvariants.check(store);
    }
  }

  /** The first checkpoint still has the records that were dropped after it. */
  @Test
  void anOlderCheckpointHasRecordsExpiredAfterIt() {
    CheckpointToken first;
    try (FasterStore store = FasterStore.open(config().build());
        LongSession<Void> session = session(store)) {
      add(session, 0, KEYS);
      first = store.checkpoints().take();
      store.log().truncate(store.log().tailAddress());
      store.log().compact();
      store.checkpoints().take();
    }
    try (FasterStore store = FasterStore.recover(config().build(), first)) {
      assertHas(store, 0, KEYS);
      assertThat(store.checkpoints().list()).isEqualTo(List.of(first));
      StoreInvariants.check(store);
    }
  }

  /** A checkpoint with an unreadable manifest may need the whole log. */
  @Test
  void anUnreadableCheckpointKeepsTheWholeLogUntilItIsRemoved() throws Exception {
    CheckpointToken first;
    try (FasterStore store = FasterStore.open(config().build());
        LongSession<Void> session = session(store)) {
      add(session, 0, KEYS);
      first = store.checkpoints().take();
      store.log().compact();
      store.checkpoints().take();
    }
    Files.write(directory.resolve("checkpoint-1.manifest"), new byte[10]);
    try (FasterStore store = FasterStore.recover(config().build())) {
      assertThat(has(0)).isTrue();
      store.checkpoints().remove(first);
      assertThat(has(0)).isFalse();
      assertHas(store, 0, KEYS);
    }
  }

  /**
   * The image of the index is copied while a record that it needs is compacted, its copy is
   * deleted, and its chain is dropped.
   */
  @Test
  void aCheckpointHasRecordsCompactedAndDeletedDuringIt() {
    var disk = new SimulatedDisk();
    StoreConfig config =
        StoreConfig.builder(disk.directory())
            .memoryBytes(1 << 20)
            .logMemoryBytes(8 * PAGE_BYTES)
            .pageBytes(PAGE_BYTES)
            .segmentBytes(PAGE_BYTES)
            .indexBytes(1 << 16)
            .recordKind(RecordKind.LONGS)
            .build();
    try (FasterStore store = FasterStore.open(config);
        LongSession<Void> session = session(store)) {
      add(session, 0, KEYS);
      Thread[] other = new Thread[1];
      disk.setFaults(
          new DiskFaults() {
            @Override
            public int beforeWrite(String file, long position, int bytes) {
              if (file.endsWith(".index") && other[0] == null) {
                other[0] = Thread.currentThread();
                store.log().compact();
                for (int key = 0; key < KEYS; key++) {
                  session.delete(key, null);
                }
                store.log().truncate(store.log().tailAddress());
              }
              return bytes;
            }
          });
      store.checkpoints().take();
      assertThat(other[0]).isNotNull();
      disk.setFaults(DiskFaults.NONE);
      assertHas(store, 0, 0);
    }
    try (FasterStore store = FasterStore.recover(config)) {
      assertHas(store, 0, KEYS);
    }
  }

  /** Insertions into chains that are being dropped with their entries. */
  @Test
  void anInsertDuringATruncationIsNotLost() {
    int keys = 64;
    try (FasterStore store = FasterStore.open(config().indexBytes(512).build());
        LongSession<Void> session = session(store)) {
      long[] address = new long[1];
      new Duel(2, 400, "insert beside truncation", () -> Insides.marks(store))
          .add(
              round -> {
                for (int key = 0; key < keys; key++) {
                  session.upsert(key, round + 1, null);
                }
              },
              round -> {
                for (int key = 0; key < keys; key++) {
                  session.read(key, null);
                  assertThat(session.value()).as("round " + round).isEqualTo(round + 1);
                }
                // From now on an upsert appends a new record, above this address.
                store.log().cut().close();
                address[0] = store.log().tailAddress();
              })
          .add(round -> store.log().truncate(address[0]))
          .run();
      StoreInvariants.check(store);
    }
  }
}
