package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.MergeableLongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.StoreException.RecordTooLarge;
import io.fasterkv.api.Versions;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.session.CopyReads;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests stores without a device: the whole log is in memory, and compaction makes room. */
class InMemoryTest {
  static final int PAGE_BYTES = 4096;

  static StoreConfigBuilder config() {
    return StoreConfig.inMemory()
        .memoryBytes(1 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes(16L * PAGE_BYTES);
  }

  private static StoreConfigBuilder large() {
    return config().logMemoryBytes(64L * PAGE_BYTES).scratchBytes(512 << 10).memoryBytes(2 << 20);
  }

  private static StoreConfigBuilder longs() {
    return config().recordKind(RecordKind.LONGS);
  }

  private static LongSession<Void> session(FasterStore store) {
    return store.newSession().longs(LongFunctions.sum());
  }

  private static Session<byte[], BytesFunctions.Result, Object> spans(FasterStore store) {
    return store.newSession().spans(new BytesFunctions());
  }

  private static byte[] bytes(int length, int content) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) content);
    return bytes;
  }

  private static byte[] read(
      Session<byte[], BytesFunctions.Result, Object> session, int key, Status expected) {
    var result = new BytesFunctions.Result();
    assertThat(session.read(ModelDriver.key(key), null, result, null)).isEqualTo(expected);
    return result.value;
  }

  /** Values that grow are copied repeatedly; dead records make room. */
  @ParameterizedTest
  @ValueSource(ints = {1, 50})
  void endlessOverwritesWithValuesOfAllSizesDoNotFillIt(int keys) {
    StoreConfig config = config().build();
    try (FasterStore store = FasterStore.open(config);
        var session = spans(store)) {
      long written = 0;
      for (int round = 0; written < 100 * config.logMemoryBytes(); round++) {
        byte[] value = bytes(1 + round % 400, round);
        session.upsert(ModelDriver.key(round % keys), ByteSpan.of(value), null);
        written += value.length;
      }
      assertThat(store.statistics().logBytes()).isLessThanOrEqualTo(config.logMemoryBytes());
    }
  }

  /** Keys are added and deleted; the index keeps no entries of deleted keys. */
  @Test
  void keysAreAddedAndDeletedForEver() {
    try (FasterStore store = FasterStore.open(longs().indexBytes(4096).build());
        var session = session(store)) {
      int live = 200;
      for (long key = 0; key < 100_000; key++) {
        session.upsert(key, key, null);
        if (key >= live) {
          assertThat(session.delete(key - live, null)).isEqualTo(Status.FOUND);
        }
      }
      for (long key = 100_000 - live; key < 100_000; key++) {
        assertThat(session.read(key, null)).isEqualTo(Status.FOUND);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aFullStoreReportsItAndContinuesOperationsThatNeedNoRoom(boolean inBackground) {
    StoreConfig config = longs().backgroundCompaction(inBackground).build();
    try (FasterStore store = FasterStore.open(config);
        var session = session(store)) {
      long keys = fill(session, 0);
      assertThat(keys).isGreaterThan(config.logMemoryBytes() / 24 * 3 / 4);
      for (long key = 0; key < keys; key++) {
        assertThat(session.rmw(key, 1, null)).isEqualTo(Status.UPDATED_IN_PLACE);
        assertThat(session.read(key, null)).isEqualTo(Status.FOUND);
        assertThat(session.value()).isEqualTo(key + 1);
      }
      assertThatThrownBy(() -> session.upsert(-1, 1, null))
          .isInstanceOf(OutOfBudget.class)
          .hasMessageContaining("recordBytes=24, logMemoryBytes=65536, takenBytes=")
          .hasMessageContaining("raise");
      for (long key = 0; key < keys; key += 2) {
        assertThat(session.delete(key, null)).isEqualTo(Status.FOUND);
      }
      if (!inBackground) {
        assertThat(store.log().compact()).isPositive();
      }
      long more = fill(session, keys);
      assertThat(more - keys).isGreaterThan(keys / 3);
      for (long key = 0; key < more; key++) {
        boolean isDeleted = key < keys && key % 2 == 0;
        assertThat(session.read(key, null)).isEqualTo(isDeleted ? Status.NOT_FOUND : Status.FOUND);
      }
    }
  }

  /** Inserts keys until there is no room; returns the first that did not fit. */
  private static long fill(LongSession<Void> session, long from) {
    for (long key = from; ; key++) {
      try {
        session.upsert(key, key, null);
      } catch (OutOfBudget e) {
        return key;
      }
    }
  }

  /**
   * Records that a cut has made read-only become mutable again: none of these operations needs more
   * room.
   */
  @Test
  void aFullStoreThatWasCutIsUpdatedAndDeletedFrom() {
    try (FasterStore store = FasterStore.open(longs().build());
        var session = session(store)) {
      long keys = fill(session, 0);
      for (int round = 1; round <= 3; round++) {
        store.log().cut().close();
        for (long key = 0; key < keys; key++) {
          session.rmw(key, 1, null);
          session.upsert(key, key + round, null);
        }
        store.log().cut().close();
        for (long key = 0; key < keys; key++) {
          assertThat(session.read(key, null)).isEqualTo(Status.FOUND);
          assertThat(session.value()).isEqualTo(key + round);
        }
      }
      for (long key = 0; key < keys; key++) {
        assertThat(session.delete(key, null)).isEqualTo(Status.FOUND);
      }
      assertThat(fill(session, keys)).isGreaterThan(keys + keys / 2);
    }
  }

  /** Values that have shrunk in place leave room that a compaction finds. */
  @Test
  void valuesThatShrinkMakeRoom() {
    try (FasterStore store = FasterStore.open(config().build());
        var session = spans(store)) {
      int keys = fill(session, 0, 400);
      for (int key = 0; key < keys; key++) {
        ByteSpan value = ByteSpan.of(bytes(4, key));
        assertThat(session.upsert(ModelDriver.key(key), value, null))
            .isEqualTo(Status.UPDATED_IN_PLACE);
      }
      assertThat(fill(session, keys, 400) - keys).isGreaterThan(keys / 2);
      for (int key = 0; key < keys; key++) {
        assertThat(read(session, key, Status.FOUND)).isEqualTo(bytes(4, key));
      }
    }
  }

  private static int fill(
      Session<byte[], BytesFunctions.Result, Object> session, int from, int valueBytes) {
    for (int key = from; ; key++) {
      try {
        session.upsert(ModelDriver.key(key), ByteSpan.of(bytes(valueBytes, key)), null);
      } catch (OutOfBudget e) {
        return key;
      }
    }
  }

  @Test
  void compactionOfAFullyLiveStoreLosesNothing() {
    StoreConfig config = longs().backgroundCompaction(false).build();
    try (FasterStore store = FasterStore.open(config);
        var session = session(store)) {
      long keys = fill(session, 0);
      for (int pass = 0; pass < 5; pass++) {
        assertThat(store.log().compact()).isPositive();
        StoreInvariants.check(store);
        for (long key = 0; key < keys; key++) {
          assertThat(session.read(key, null)).isEqualTo(Status.FOUND);
          assertThat(session.value()).isEqualTo(key);
        }
      }
    }
  }

  /** A cut pins the records that it shows, and writers get an error; closing it makes room. */
  @Test
  void aCutKeepsItsPages() {
    try (FasterStore store = FasterStore.open(longs().build());
        var session = session(store)) {
      long keys = fill(session, 0);
      for (long key = 0; key < keys; key += 2) {
        session.delete(key, null);
      }
      Set<Long> seen = new HashSet<>();
      try (LogCut cut = store.log().cut()) {
        assertThatThrownBy(() -> fill(session, keys, 2 * keys))
            .isInstanceOf(OutOfBudget.class)
            .hasMessageContaining("close cuts");
        store.log().compact();
        try (LogScan scan = cut.scan()) {
          while (scan.next()) {
            boolean isNew = scan.isTombstone() || seen.add(scan.key().getLong(0));
            assertThat(isNew).isTrue();
          }
        }
      }
      assertThat(seen).hasSize((int) (keys / 2));
      fill(session, keys, keys + keys / 3);
    }
  }

  private static void fill(LongSession<Void> session, long from, long until) {
    for (long key = from; key < until; key++) {
      session.upsert(key, key, null);
    }
  }

  /**
   * A history and a live scan are read after the records that they have pinned were dropped from
   * the log.
   */
  @Test
  void pinnedReadersReadOnBelowTheBegin() {
    try (FasterStore store = FasterStore.open(longs().build());
        var session = session(store)) {
      fill(session, 0, 500);
      store.log().cut().close();
      session.upsert(7, 70, null);
      long tail = store.log().tailAddress();
      try (KeyHistory history = store.log().history(7);
          LogScan scan = store.log().scan(Versions.LIVE)) {
        store.log().truncate(tail);
        assertThat(session.read(7, null)).isEqualTo(Status.NOT_FOUND);
        assertThat(history.next()).isTrue();
        assertThat(history.value().getLong(0)).isEqualTo(70);
        assertThat(history.next()).isTrue();
        assertThat(history.value().getLong(0)).isEqualTo(7);
        assertThat(history.next()).isFalse();
        int records = 0;
        while (scan.next()) {
          records++;
        }
        assertThat(records).as("the keys present when the scan began").isEqualTo(500);
      }
      fill(session, 0, 2000);
    }
  }

  @Test
  void aFollowerReadsRecordsThatBecomeReadOnly() {
    try (FasterStore store = FasterStore.open(longs().backgroundCompaction(false).build());
        var session = session(store);
        LogFollower follower = store.log().follow(store.log().beginAddress())) {
      for (long round = 0; round < 50; round++) {
        fill(session, round * 100, round * 100 + 100);
        store.log().cut().close();
        for (long key = round * 100; key < round * 100 + 100; key++) {
          assertThat(follower.next()).isTrue();
          while (follower.key().getLong(0) < round * 100) {
            // The record was moved, and is returned again.
            assertThat(follower.next()).isTrue();
          }
          assertThat(follower.key().getLong(0)).isEqualTo(key);
        }
        assertThat(follower.next()).as("at the end, where it pins nothing").isFalse();
        for (long key = round * 100; key < round * 100 + 100; key++) {
          session.delete(key, null);
        }
        store.log().compact();
        follower.skipTruncated();
      }
    }
  }

  /** Values of many pages are written, replaced, moved and scanned, one writer at a time. */
  @Tag("slow")
  @Test
  void largeValuesAreMovedWithTheirChunks() {
    StoreConfig config = large().build();
    try (FasterStore store = FasterStore.open(config);
        var session = spans(store)) {
      for (int round = 0; round < 2_000; round++) {
        int key = round % 5;
        byte[] value = bytes(round % 3 == 0 ? 100 : 3 * PAGE_BYTES + round % 5_000, round);
        session.upsert(ModelDriver.key(key), ByteSpan.of(value), null);
        assertThat(read(session, key, Status.FOUND)).isEqualTo(value);
      }
      for (int key = 0; key < 5; key++) {
        session.delete(ModelDriver.key(key), null);
      }
      int largest = 17 * (PAGE_BYTES - 100);
      session.upsert(ModelDriver.key(9), ByteSpan.of(bytes(largest, 9)), null);
      assertThat(read(session, 9, Status.FOUND)).isEqualTo(bytes(largest, 9));
    }
  }

  @Tag("slow")
  @Test
  void aStoreFullOfLargeValuesContinues() {
    StoreConfig config = large().build();
    try (FasterStore store = FasterStore.open(config);
        var session = spans(store)) {
      int bytes = 5 * PAGE_BYTES;
      Set<Integer> live = new HashSet<>();
      for (int round = 0; round < 20; round++) {
        int keys = fill(session, 0, bytes);
        for (int key = 0; key < keys; key++) {
          live.add(key);
        }
        assertThat(live).hasSizeBetween(7, 9);
        for (int key : Set.copyOf(live)) {
          assertThat(read(session, key, Status.FOUND)).isEqualTo(bytes(bytes, key));
          if (key % 2 == round % 2) {
            assertThat(session.delete(ModelDriver.key(key), null)).isEqualTo(Status.FOUND);
            live.remove(key);
          }
        }
      }
    }
  }

  @Test
  void valuesThatCouldNotBeMovedAreRefused() {
    try (FasterStore store = FasterStore.open(config().scratchBytes(256 << 10).build());
        var session = spans(store)) {
      ByteSpan value = ByteSpan.of(bytes(6 * PAGE_BYTES, 1));
      assertThatThrownBy(() -> session.upsert(ModelDriver.key(1), value, null))
          .isInstanceOf(RecordTooLarge.class)
          .hasMessageContaining("valueBytes=24576, allowed=up to")
          .hasMessageContaining("raise logMemoryBytes");
      assertThat(read(session, 1, Status.NOT_FOUND)).isEmpty();
    }
  }

  /** Growth needs no log; shrinkage reserves room for its forks before it begins, or is refused. */
  @ParameterizedTest
  @ValueSource(ints = {4 << 10, 128 << 10})
  void aFullStoreIsResized(int indexBytes) {
    try (FasterStore store = FasterStore.open(longs().indexBytes(indexBytes).build());
        var session = session(store)) {
      long keys = fill(session, 0);
      assertThat(store.index().grow()).isEqualTo(2 * indexBytes);
      if (indexBytes < 64 << 10) {
        assertThatThrownBy(store.index()::shrink)
            .isInstanceOf(OutOfBudget.class)
            .hasMessageContaining("forks");
      } else {
        for (long key = 0; key < keys; key += 2) {
          session.delete(key, null);
        }
        store.log().compact();
        assertThat(store.index().shrink()).isEqualTo(indexBytes);
        assertThat(store.index().shrink()).isEqualTo(indexBytes / 2);
      }
      for (long key = 0; key < keys; key++) {
        boolean isDeleted = indexBytes >= 64 << 10 && key % 2 == 0;
        assertThat(session.read(key, null)).isEqualTo(isDeleted ? Status.NOT_FOUND : Status.FOUND);
      }
      assertThat(store.statistics().index().entries()).isPositive();
    }
  }

  @Test
  void mergeableUpdatesOfAFullStoreAreMadeInPlace() {
    StoreConfig config = longs().merge(new MergedSums()).build();
    try (FasterStore store = FasterStore.open(config);
        var session = store.newSession().longs(new MergedSums())) {
      long keys = 0;
      try {
        for (; ; keys++) {
          session.upsert(keys, 0, null);
        }
      } catch (OutOfBudget e) {
        assertThat(keys).isPositive();
      }
      for (int round = 1; round <= 3; round++) {
        store.log().cut().close();
        for (long key = 0; key < keys; key++) {
          assertThat(session.rmw(key, 1, null)).isIn(Status.UPDATED_IN_PLACE, Status.COPIED);
          assertThat(session.read(key, null)).isEqualTo(Status.FOUND);
          assertThat(session.value()).isEqualTo(round);
        }
      }
    }
  }

  private static final class MergedSums implements MergeableLongFunctions<Void> {
    @Override
    public long initialUpdater(long key, long input) {
      return input;
    }

    @Override
    public long updater(long key, long input, long oldValue) {
      return oldValue + input;
    }

    @Override
    public long merge(long key, long older, long newer) {
      return older + newer;
    }
  }

  /** Nothing is ever pending: stages are complete, and reads make no copies. */
  @Test
  void stagesAreCompleteAndReadsLeaveNoCopies() {
    try (FasterStore store = FasterStore.open(config().build());
        var async = store.newSession().asyncSpans(new BytesFunctions(), Runnable::run);
        var session = spans(store)) {
      session.copyReads(CopyReads.FROM_DISK_AND_READ_ONLY);
      for (int round = 0; round < 5_000; round++) {
        ByteSpan key = ModelDriver.key(round % 40);
        var result = new BytesFunctions.Result();
        CompletableFuture<Status> put =
            async.upsert(key, ByteSpan.of(bytes(round % 500, round))).toCompletableFuture();
        assertThat(put).isCompleted();
        assertThat(async.read(key, null, result).toCompletableFuture())
            .isCompletedWithValue(Status.FOUND);
        assertThat(result.value).isEqualTo(bytes(round % 500, round));
      }
      store.log().cut().close();
      long tail = store.log().tailAddress();
      read(session, 1, Status.FOUND);
      assertThat(store.log().tailAddress()).isEqualTo(tail);
    }
  }
}
