package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.index.IndexWalk;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests two threads that each take one short step, many times, for races with a window of a few
 * instructions.
 */
@Tag("long")
@Tag("seeds")
class RaceTest {
  private static final int ROUNDS = 1000;
  private static final int KEYS = 48;

  @TempDir Path directory;

  private FasterStore open(RecordKind kind, long indexBytes) {
    return FasterStore.open(
        StoreConfig.builder(directory)
            .memoryBytes(64 << 20)
            .logMemoryBytes(32 << 20)
            .pageBytes(4096)
            .indexBytes(indexBytes)
            .recordKind(kind)
            .keyHash(HashedKeys::hash)
            .build(),
        new MemoryDevice());
  }

  private static LongSession<Void> longs(FasterStore store) {
    return store.newSession().longs(LongFunctions.sum());
  }

  private static Session<byte[], BytesFunctions.Result, Object> spans(FasterStore store) {
    return store.newSession().spans(new BytesFunctions());
  }

  /** Two deletes of one value: exactly one finds it. */
  @Test
  void twoDeletesNeverFindOneValue() {
    try (FasterStore store = open(RecordKind.LONGS, 1 << 16);
        LongSession<Void> first = longs(store);
        LongSession<Void> second = longs(store)) {
      AtomicInteger found = new AtomicInteger();
      fill(first);
      new Duel(2, ROUNDS, "two deletes", () -> Insides.marks(store))
          .add(
              round -> found.addAndGet(deleteAll(first)),
              round -> {
                assertThat(found.getAndSet(0)).as("round " + round).isEqualTo(KEYS);
                fill(first);
              })
          .add(round -> found.addAndGet(deleteAll(second)))
          .run();
      StoreInvariants.check(store);
    }
  }

  private static void fill(LongSession<Void> session) {
    for (int key = 0; key < KEYS; key++) {
      session.upsert(key, 1, null);
    }
  }

  private static int deleteAll(LongSession<Void> session) {
    int found = 0;
    for (int key = 0; key < KEYS; key++) {
      found += session.delete(key, null) == Status.FOUND ? 1 : 0;
    }
    return found;
  }

  /** Two new keys of one tag: both exist afterwards. */
  @Test
  void twoInsertsOfOneTagAreBothFound() {
    try (FasterStore store = open(RecordKind.SPANS, 4096)) {
      inserts(store, 48);
    }
  }

  /** The same with full buckets, in which tags share entries. */
  @Test
  void twoInsertsOfOneTagAreBothFoundWhereEntriesAreShared() {
    for (int i = 0; i < 20; i++) {
      try (FasterStore store = open(RecordKind.SPANS, 512)) {
        inserts(store, 6);
        assertThat(IndexWalk.saturatedBuckets(Insides.engine(store).index().soleTable()))
            .isPositive();
      }
    }
  }

  private static void inserts(FasterStore store, long buckets) {
    int rounds = buckets > 6 ? Seeds.part(ROUNDS) : ROUNDS / 20;
    try (var first = spans(store);
        var second = spans(store)) {
      new Duel(2, rounds, "two inserts", () -> Insides.marks(store))
          .add(
              round -> insertAll(first, round, buckets, 1),
              round -> {
                for (int i = 0; i < KEYS; i++) {
                  assertFound(first, tagged(round, buckets, i, 1), "round " + round);
                  assertFound(first, tagged(round, buckets, i, 2), "round " + round);
                  // Usually the entry is freed again; some entries remain, until the buckets are
                  // full.
                  if (i != round % KEYS) {
                    first.delete(tagged(round, buckets, i, 1), null);
                    first.delete(tagged(round, buckets, i, 2), null);
                  }
                }
              })
          .add(round -> insertAll(second, round, buckets, 2))
          .run();
      StoreInvariants.check(store);
    }
  }

  private static void insertAll(
      Session<byte[], BytesFunctions.Result, Object> session, long round, long buckets, long id) {
    ByteSpan value = ByteSpan.of(new byte[] {1});
    for (int i = 0; i < KEYS; i++) {
      session.upsert(tagged(round, buckets, i, id), value, null);
    }
  }

  private static void assertFound(
      Session<byte[], BytesFunctions.Result, Object> session, ByteSpan key, String when) {
    assertThat(session.read(key, null, new BytesFunctions.Result(), null))
        .as(when)
        .isEqualTo(Status.FOUND);
  }

  private static ByteSpan tagged(long round, long buckets, int i, long id) {
    return HashedKeys.key(HashedKeys.inBucket(i % buckets, buckets, (round + i) % 1000), id);
  }

  /** A key is deleted with its entry while another with its tag is inserted. */
  @Test
  void anInsertDuringADeleteThatFreesTheEntryIsNotLost() {
    try (FasterStore store = open(RecordKind.SPANS, 1 << 14);
        var first = spans(store);
        var second = spans(store)) {
      ByteSpan value = ByteSpan.of(new byte[] {1});
      for (int i = 0; i < KEYS; i++) {
        first.upsert(HashedKeys.key(HashedKeys.inBucket(i, KEYS), 0), value, null);
      }
      new Duel(2, ROUNDS, "insert beside delete", () -> Insides.marks(store))
          .add(
              round -> {
                for (int i = 0; i < KEYS; i++) {
                  first.delete(HashedKeys.key(HashedKeys.inBucket(i, KEYS), round % 2), null);
                }
              },
              round -> {
                for (int i = 0; i < KEYS; i++) {
                  long hash = HashedKeys.inBucket(i, KEYS);
                  assertFound(first, HashedKeys.key(hash, (round + 1) % 2), "round " + round);
                  assertThat(first.read(HashedKeys.key(hash, round % 2), null, null, null))
                      .isEqualTo(Status.NOT_FOUND);
                }
              })
          .add(round -> {
            for (int i = 0; i < KEYS; i++) {
              ByteSpan key = HashedKeys.key(HashedKeys.inBucket(i, KEYS), (round + 1) % 2);
              second.upsert(key, value, null);
            }
          })
          .run();
      StoreInvariants.check(store);
    }
  }

  /** An update in place and an update that outgrows the record: neither is lost. */
  @Test
  void anUpdateDuringOneThatOutgrowsTheRecordIsNotLost() {
    try (FasterStore store = open(RecordKind.SPANS, 4096);
        var first = spans(store);
        var second = spans(store)) {
      ByteSpan key = HashedKeys.numbered(7, 1);
      new Duel(2, ROUNDS, "update beside growth", () -> Insides.marks(store))
          .add(
              round -> rmwAll(first, key, new byte[1]),
              round -> {
                var result = new BytesFunctions.Result();
                first.read(key, null, result, null);
                assertThat(result.value).as("round " + round).hasSize(KEYS * 4);
                first.delete(key, null);
              })
          .add(round -> rmwAll(second, key, new byte[3]))
          .run();
      StoreInvariants.check(store);
    }
  }

  private static void rmwAll(
      Session<byte[], BytesFunctions.Result, Object> session, ByteSpan key, byte[] input) {
    for (int i = 0; i < KEYS; i++) {
      session.rmw(key, input, null);
    }
  }

  /** Updates during cuts: none is lost in the fuzzy region. */
  @Test
  void updatesDuringCutsAreNotLost() {
    try (FasterStore store = open(RecordKind.LONGS, 4096);
        LongSession<Void> first = longs(store);
        LongSession<Void> second = longs(store)) {
      new Duel(3, ROUNDS, "updates beside cuts", () -> Insides.marks(store))
          .add(
              round -> addAll(first),
              round -> {
                first.read(0, null);
                assertThat(first.value()).as("round " + round).isEqualTo((round + 1) * 2 * KEYS);
              })
          .add(round -> addAll(second))
          .add(round -> store.log().cut().close())
          .run();
      StoreInvariants.check(store);
    }
  }

  private static void addAll(LongSession<Void> session) {
    for (int i = 0; i < KEYS; i++) {
      session.rmw(0, 1, null);
    }
  }
}
