package io.fasterkv.cpr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.LongSession;
import io.fasterkv.Pause;
import io.fasterkv.StoreInvariants;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.MergeableLongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.OperationFailed;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.CommitPoint;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.VersionShift;
import io.fasterkv.api.session.SessionIdentity;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.cpr.CprStore.Commit;
import io.fasterkv.cpr.Script.Kind;
import io.fasterkv.cpr.Script.Step;
import io.fasterkv.cpr.SumFunctions.Found;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.state.Phase;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests each phase of a version shift with operations on a single key: writes before the session
 * has crossed are in the checkpoint, later writes are not, and the store itself has both.
 */
class ShiftTest {
  private static final int MAX_BYTES = 64;
  private static final int PAGE_BYTES = 4096;
  private static final int SESSION_A = 0;
  private static final int SESSION_B = 1;
  private static final long KEY = 5;

  /** In another bucket, because keys of one bucket share a latch. */
  private static final long OTHER_KEY = 500;

  @TempDir Path directory;

  private final MemoryDevice device = new MemoryDevice();

  /** A combination of record kind, version shift and checkpoint request. */
  record Case(RecordKind records, VersionShift shift, CheckpointRequest request) {}

  static Stream<Case> cases() {
    List<Case> cases = new ArrayList<>();
    for (RecordKind records : RecordKind.values()) {
      for (VersionShift shift : VersionShift.values()) {
        cases.add(new Case(records, shift, CheckpointRequest.full(CheckpointKind.FOLD_OVER)));
        cases.add(new Case(records, shift, CheckpointRequest.logOnly(CheckpointKind.SNAPSHOT)));
      }
    }
    return cases.stream();
  }

  private StoreConfig config(Case of) {
    return StoreConfig.builder(directory)
        .memoryBytes(1 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes(8 * PAGE_BYTES)
        .indexBytes(8192)
        .recordKind(of.records())
        .versionShift(of.shift())
        .build();
  }

  private CprStore open(Case of) {
    return CprStore.open(config(of), device);
  }

  private static StampedSession session(CprStore store, int number, SessionMode mode) {
    return store.session(number, mode, MAX_BYTES);
  }

  private static boolean perform(StampedSession session, Kind kind, long key, long stamp) {
    return session.perform(new Step(0, 0, kind, key, stamp), found -> {});
  }

  private static Long read(CprStore store, long key) {
    AtomicReference<Long> value = new AtomicReference<>();
    try (StampedSession session = store.anonymous(SessionMode.BLOCKING, MAX_BYTES)) {
      session.perform(new Step(0, 0, Kind.READ, key, 0), value::set);
    }
    return value.get();
  }

  /** Writes other keys until all earlier records are evicted. */
  private static void evict(CprStore store) {
    try (StampedSession session = store.anonymous(SessionMode.BLOCKING, MAX_BYTES)) {
      for (long key = 1000; key < 1000 + 10 * PAGE_BYTES / 24; key++) {
        perform(session, Kind.UPSERT, key, key);
      }
    }
  }

  /** Recovers a checkpoint and reads the key. */
  private Long recovered(Case of, Commit commit) {
    try (CprStore store = CprStore.recover(config(of), commit.token(), device)) {
      assertThat(store.recovered().points()).isEqualTo(commit.points());
      StoreInvariants.check(store.store());
      return read(store, KEY);
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void anUpdateBelongsToTheVersionInWhichItBegan(Case of) {
    Commit commit;
    try (CprStore store = open(of);
        StampedSession a = session(store, SESSION_A, SessionMode.BLOCKING);
        StampedSession b = session(store, SESSION_B, SessionMode.BLOCKING)) {
      perform(a, Kind.UPSERT, KEY, 1);
      SteppedCheckpoint checkpoint = new SteppedCheckpoint(store, of.request());
      perform(a, Kind.RMW, KEY, 2);
      perform(b, Kind.RMW, KEY, 4);
      checkpoint.to(Phase.IN_PROGRESS);
      Thread later = Pause.begin(() -> perform(a, Kind.RMW, KEY, 100));
      checkpoint.to(Phase.WAIT_PENDING);
      perform(b, Kind.RMW, KEY, 200);
      Pause.join(later);
      checkpoint.to(Phase.WAIT_FLUSH);
      commit = checkpoint.finish();
      perform(b, Kind.RMW, KEY, 400);
      assertThat(read(store, KEY)).isEqualTo(707);
      assertThat(commit.point(SESSION_A)).isEqualTo(2);
      assertThat(commit.point(SESSION_B)).isEqualTo(1);
      assertThat(a.serial()).isEqualTo(3);
    }
    assertThat(recovered(of, commit)).isEqualTo(7);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void aKeyDeletedAndWrittenAgainInTheNextVersionIsRecoveredAsItWas(Case of) {
    Commit commit;
    try (CprStore store = open(of);
        StampedSession a = session(store, SESSION_A, SessionMode.BLOCKING)) {
      perform(a, Kind.UPSERT, KEY, 1);
      SteppedCheckpoint checkpoint = new SteppedCheckpoint(store, of.request());
      checkpoint.to(Phase.IN_PROGRESS);
      Thread later =
          Pause.begin(() -> {
            perform(a, Kind.DELETE, KEY, 0);
            perform(a, Kind.UPSERT, KEY, 2);
            perform(a, Kind.DELETE, KEY, 0);
            perform(a, Kind.RMW, KEY, 3);
          });
      checkpoint.to(Phase.WAIT_PENDING);
      Pause.join(later);
      commit = checkpoint.finish();
      assertThat(read(store, KEY)).isEqualTo(3);
    }
    assertThat(recovered(of, commit)).isEqualTo(1);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void aKeyThatWasDeletedStaysSoWhateverTheNextVersionPutsThere(Case of) {
    Commit commit;
    try (CprStore store = open(of);
        StampedSession a = session(store, SESSION_A, SessionMode.BLOCKING);
        StampedSession b = session(store, SESSION_B, SessionMode.BLOCKING)) {
      perform(a, Kind.UPSERT, KEY, 1);
      SteppedCheckpoint checkpoint = new SteppedCheckpoint(store, of.request());
      perform(a, Kind.DELETE, KEY, 0);
      checkpoint.to(Phase.IN_PROGRESS);
      Thread later = Pause.begin(() -> perform(b, Kind.UPSERT, KEY, 2));
      checkpoint.to(Phase.WAIT_PENDING);
      Pause.join(later);
      perform(b, Kind.RMW, KEY, 3);
      commit = checkpoint.finish();
      assertThat(read(store, KEY)).isEqualTo(5);
    }
    assertThat(recovered(of, commit)).isNull();
  }

  /** The session is idle: the checkpoint completes its pending updates. */
  @ParameterizedTest
  @MethodSource("cases")
  void pendingUpdatesOfAParkedSessionAreInTheCheckpoint(Case of) {
    Commit commit;
    try (CprStore store = open(of);
        StampedSession a = session(store, SESSION_A, SessionMode.PENDING);
        StampedSession b = session(store, SESSION_B, SessionMode.BLOCKING)) {
      perform(a, Kind.UPSERT, KEY, 1);
      evict(store);
      assertThat(perform(a, Kind.RMW, KEY, 2)).isFalse();
      SteppedCheckpoint checkpoint = new SteppedCheckpoint(store, of.request());
      assertThat(perform(a, Kind.RMW, KEY, 4)).isFalse();
      checkpoint.to(Phase.IN_PROGRESS);
      // The update must not overtake the pending ones.
      Thread later = Pause.begin(() -> perform(b, Kind.RMW, KEY, 100));
      Pause.awaitWaiting(later);
      commit = checkpoint.finish();
      Pause.join(later);
      assertThat(commit.point(SESSION_A)).isEqualTo(3);
      assertThat(commit.point(SESSION_B)).isZero();
      a.completePending();
      assertThat(read(store, KEY)).isEqualTo(107);
    }
    assertThat(recovered(of, commit)).isEqualTo(7);
  }

  /** The session completes its own pending updates after it has seen the next version. */
  @ParameterizedTest
  @MethodSource("cases")
  void anUpdateCompletedByItsSessionBelongsToTheVersionInWhichItWasAccepted(Case of) {
    Commit commit;
    try (CprStore store = open(of);
        StampedSession a = session(store, SESSION_A, SessionMode.PENDING)) {
      perform(a, Kind.UPSERT, KEY, 1);
      evict(store);
      assertThat(perform(a, Kind.RMW, KEY, 2)).isFalse();
      SteppedCheckpoint checkpoint = new SteppedCheckpoint(store, of.request());
      checkpoint.to(Phase.IN_PROGRESS);
      // A write of the next version to another key: the session has crossed.
      perform(a, Kind.UPSERT, OTHER_KEY, 50);
      Thread ending = Pause.begin(a::completePending);
      Pause.join(ending);
      checkpoint.to(Phase.WAIT_PENDING);
      perform(a, Kind.RMW, KEY, 100);
      commit = checkpoint.finish();
      assertThat(commit.point(SESSION_A)).isEqualTo(2);
      assertThat(read(store, KEY)).isEqualTo(103);
      assertThat(read(store, OTHER_KEY)).isEqualTo(50);
    }
    assertThat(recovered(of, commit)).isEqualTo(3);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void aSessionThatClosesInTheMiddleHasItsPoint(Case of) {
    Commit commit;
    try (CprStore store = open(of)) {
      StampedSession a = session(store, SESSION_A, SessionMode.PENDING);
      perform(a, Kind.UPSERT, KEY, 1);
      evict(store);
      assertThat(perform(a, Kind.RMW, KEY, 2)).isFalse();
      SteppedCheckpoint checkpoint = new SteppedCheckpoint(store, of.request());
      checkpoint.to(Phase.IN_PROGRESS);
      Thread closing = Pause.begin(a::close);
      Pause.join(closing);
      // Another session continues under its name.
      try (StampedSession again = store.resume(SESSION_A, SessionMode.BLOCKING, MAX_BYTES)) {
        assertThat(again.serial()).isEqualTo(2);
        checkpoint.to(Phase.WAIT_PENDING);
        perform(again, Kind.RMW, KEY, 100);
        commit = checkpoint.finish();
        assertThat(again.serial()).isEqualTo(3);
      }
      assertThat(commit.point(SESSION_A)).isEqualTo(2);
      assertThat(read(store, KEY)).isEqualTo(103);
    }
    assertThat(recovered(of, commit)).isEqualTo(3);
  }

  /** Compaction retries later; neither compaction nor the shift waits for the other. */
  @ParameterizedTest
  @MethodSource("cases")
  void compactionDuringAShiftMovesNothingOutOfTheCheckpoint(Case of) {
    Commit commit;
    try (CprStore store = open(of);
        StampedSession a = session(store, SESSION_A, SessionMode.BLOCKING)) {
      perform(a, Kind.UPSERT, KEY, 1);
      evict(store);
      evict(store);
      SteppedCheckpoint checkpoint = new SteppedCheckpoint(store, of.request());
      Thread compaction = Pause.begin(() -> store.store().log().compact());
      Pause.awaitWaiting(compaction);
      checkpoint.to(Phase.IN_PROGRESS);
      checkpoint.to(Phase.WAIT_PENDING);
      perform(a, Kind.RMW, KEY, 100);
      commit = checkpoint.finish();
      Pause.join(compaction);
      assertThat(read(store, KEY)).isEqualTo(101);
    }
    assertThat(recovered(of, commit)).isEqualTo(1);
  }

  /** Code that merges deltas treats a record below a delta as settled if it was in a snapshot. */
  @Test
  void noDeltaGoesAboveAnUpdateInPlaceOfARecordThatWasInASnapshot() {
    Pause pause = new Pause();
    MergeableLongFunctions<Found> sum = StampedSession.Longs.functions();
    MergeableLongFunctions<Found> slow =
        new MergeableLongFunctions<>() {
          @Override
          public long initialUpdater(long key, long input) {
            return input;
          }

          @Override
          public long updater(long key, long input, long oldValue) {
            pause.here();
            return oldValue + input;
          }

          @Override
          public long merge(long key, long older, long newer) {
            return older + newer;
          }
        };
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(1 << 20)
            .pageBytes(PAGE_BYTES)
            .logMemoryBytes(8 * PAGE_BYTES)
            .recordKind(RecordKind.LONGS)
            .merge(sum)
            .build();
    try (CprStore store = CprStore.open(config, device);
        StampedSession a = session(store, SESSION_A, SessionMode.BLOCKING)) {
      perform(a, Kind.UPSERT, KEY, 1);
      store.checkpoint(CheckpointRequest.full(CheckpointKind.SNAPSHOT));
      pause.start(() -> {
        try (LongSession<Found> b = store.store().newSession().longs(slow)) {
          assertThat(b.rmw(KEY, 2, null)).isEqualTo(Status.UPDATED_IN_PLACE);
        }
      });
      store.store().log().cut().close();
      Thread other = Pause.begin(() -> perform(a, Kind.RMW, KEY, 4));
      Pause.awaitWaiting(other);
      pause.finish();
      Pause.join(other);
      assertThat(read(store, KEY)).isEqualTo(7);
    }
  }

  /**
   * The session that made the call receives the exceptions of the user's functions, whichever
   * thread runs them.
   */
  @ParameterizedTest
  @MethodSource("cases")
  void anUpdaterThatThrowsFailsItsOwnOperationAndNoCheckpoint(Case of) {
    if (of.records() != RecordKind.LONGS) {
      return;
    }
    LongFunctions<Void> picky =
        new LongFunctions<>() {
          @Override
          public long initialUpdater(long key, long input) {
            return input;
          }

          @Override
          public long updater(long key, long input, long oldValue) {
            throw new ArithmeticException("no");
          }
        };
    Commit commit;
    try (CprStore store = open(of);
        LongSession<Void> a =
            store
                .store()
                .newSession()
                .identity(SessionIdentity.start("picky"))
                .mode(SessionMode.PENDING)
                .longs(picky)) {
      a.upsert(KEY, 1, null);
      evict(store);
      assertThat(a.rmw(KEY, 2, null)).isEqualTo(Status.PENDING);
      commit = store.checkpoint(of.request());
      assertThat(commit.points().get("picky")).isEqualTo(new CommitPoint(2, List.of(2L)));
      assertThatThrownBy(() -> a.completePending(true))
          .isInstanceOf(OperationFailed.class)
          .hasCauseInstanceOf(ArithmeticException.class)
          .hasMessageContaining("serial=2");
      assertThat(a.upsert(KEY, 9, null)).isNotEqualTo(Status.PENDING);
      assertThat(read(store, KEY)).isEqualTo(9);
    }
    assertThat(recovered(of, commit)).isEqualTo(1);
  }
}
