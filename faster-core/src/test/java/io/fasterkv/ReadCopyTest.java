package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.session.CopyReads;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.device.memory.MemoryDevice;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests reads that copy records to the tail, with concurrent compaction and concurrent upserts and
 * deletes of increasing versions: no old version reappears, and deleted keys stay deleted.
 */
@Tag("seeds")
class ReadCopyTest {
  private static final int OPERATIONS = 20_000;
  private static final int PAGE_BYTES = 4096;
  private static final int KEYS = 500;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(6);
  }

  private StoreConfig config(RecordKind kind) {
    return StoreConfig.builder(directory)
        .memoryBytes(2 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes(4 * PAGE_BYTES)
        .indexBytes(2048)
        .segmentBytes(4 * PAGE_BYTES)
        .scratchBytes(1 << 20)
        .mutableFraction(0.5)
        .recordKind(kind)
        .deleteOnClose(true)
        .build();
  }

  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void aCopyNeverCoversANewerVersionOrADelete(long seed) {
    race(seed, false);
  }

  /** The check above detects copies that are published regardless of later operations. */
  @Test
  void aCopyWithoutAConditionIsSeen() {
    for (long seed = 1; seed <= 20; seed++) {
      try {
        race(seed, true);
      } catch (AssertionError e) {
        assertThat(e).hasRootCauseInstanceOf(IllegalStateException.class);
        return;
      }
    }
    fail("copies without a condition were not seen");
  }

  /**
   * @param isBroken kept for this test: a reader writes back what it has read, regardless of later
   *     operations
   */
  private void race(long seed, boolean isBroken) {
    SplittableRandom random = new SplittableRandom(seed);
    SessionMode mode =
        random.nextBoolean() || isBroken ? SessionMode.BLOCKING : SessionMode.PENDING;
    StoreConfig config = config(random.nextBoolean() ? RecordKind.LONGS : RecordKind.SPANS);
    VersionedKeys keys = new VersionedKeys(KEYS);
    String title = "seed " + seed + ", " + mode + ", " + config.recordKind();
    try (FasterStore store = FasterStore.open(config, new MemoryDevice())) {
      Crew crew = new Crew(title, () -> Insides.marks(store));
      SplittableRandom writerDice = random.split();
      crew.add(() -> write(crew, store, keys, writerDice));
      for (int reader = 0; reader < 2; reader++) {
        SplittableRandom dice = random.split();
        crew.add(() -> read(crew, store, mode, keys, dice, isBroken));
      }
      crew.add(() -> {
        while (!crew.isOver()) {
          store.log().compact();
        }
      });
      crew.run();
      try (VersionedSession session = VersionedSession.open(store, SessionMode.BLOCKING, 40)) {
        for (int key = 0; key < KEYS; key++) {
          check(session, keys, key);
        }
      }
      StoreInvariants.check(store);
    }
  }

  private static void write(
      Crew crew, FasterStore store, VersionedKeys keys, SplittableRandom dice) {
    try (VersionedSession session = VersionedSession.open(store, SessionMode.BLOCKING, 40)) {
      for (int i = 0; i < OPERATIONS && !crew.isOver(); i++) {
        int key = dice.nextInt(KEYS);
        boolean isDelete = dice.nextInt(4) == 0;
        long version = keys.begin(key, isDelete);
        if (isDelete) {
          session.delete(key);
        } else {
          session.upsert(key, version);
        }
        keys.end(key, version);
        check(session, keys, dice.nextInt(KEYS));
      }
    }
    crew.end();
  }

  private static void read(
      Crew crew,
      FasterStore store,
      SessionMode mode,
      VersionedKeys keys,
      SplittableRandom dice,
      boolean isBroken) {
    try (VersionedSession session = VersionedSession.open(store, mode, 40)) {
      session.copyReads(
          dice.nextBoolean() ? CopyReads.FROM_DISK : CopyReads.FROM_DISK_AND_READ_ONLY);
      while (!crew.isOver()) {
        int key = dice.nextInt(KEYS);
        if (isBroken) {
          long[] found = new long[1];
          session.read(key, version -> found[0] = version);
          if (found[0] > 0) {
            session.upsert(key, found[0]);
          }
        } else {
          check(session, keys, key);
        }
      }
    }
  }

  private static void check(VersionedSession session, VersionedKeys keys, int key) {
    long before = keys.ended(key);
    session.read(key, version -> keys.check(key, version, before));
  }

  /** A key on disk is copied by its first read; the next finds it in memory. */
  @ParameterizedTest
  @EnumSource(CopyReads.class)
  void theSecondReadFindsTheCopyInMemory(CopyReads wanted) {
    try (FasterStore store = FasterStore.open(config(RecordKind.LONGS), new MemoryDevice());
        LongSession<Void> session =
            store.newSession().mode(SessionMode.PENDING).longs(LongFunctions.sum())) {
      for (int key = 0; key < 4000; key++) {
        session.upsert(key, key, null);
      }
      session.copyReads(wanted);
      assertThat(session.read(7, null)).isEqualTo(Status.PENDING);
      session.completePending(true);
      long tail = store.statistics().logBytes();
      if (wanted == CopyReads.NEVER) {
        assertThat(session.read(7, null)).isEqualTo(Status.PENDING);
        session.completePending(true);
      } else {
        assertThat(session.read(7, null)).isEqualTo(Status.FOUND);
        assertThat(session.value()).isEqualTo(7);
      }
      assertThat(store.statistics().logBytes()).isEqualTo(tail);
    }
  }

  /**
   * A read of a record in the read-only region copies it once if copies are requested, and
   * otherwise never.
   */
  @ParameterizedTest
  @EnumSource(CopyReads.class)
  void aRecordInTheReadOnlyRegionIsCopiedOnce(CopyReads wanted) {
    try (FasterStore store = FasterStore.open(config(RecordKind.LONGS), new MemoryDevice());
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      session.upsert(7, 70, null);
      try (LogCut cut = store.log().cut();
          LogScan scan = cut.scan()) {
        assertThat(scan.next()).isTrue();
      }
      session.copyReads(wanted);
      long before = store.statistics().logBytes();
      for (int i = 0; i < 3; i++) {
        assertThat(session.read(7, null)).isEqualTo(Status.FOUND);
        assertThat(session.value()).isEqualTo(70);
      }
      long copied = wanted == CopyReads.FROM_DISK_AND_READ_ONLY ? 24 : 0;
      assertThat(store.statistics().logBytes()).isEqualTo(before + copied);
    }
  }
}
