package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.checkpoint.CommitPoint;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.VersionShift;
import io.fasterkv.api.session.SessionIdentity;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.state.Phase;
import java.nio.file.Path;
import java.util.SortedMap;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests to which version operations belong in each phase of a version shift, by holding the shift
 * in the phase.
 */
class VersionShiftTest {
  private static final int PAGE_BYTES = 4096;

  @TempDir Path directory;

  private final MemoryDevice device = new MemoryDevice();
  private final AtomicReference<CheckpointToken> token = new AtomicReference<>();

  private StoreConfig config(VersionShift shift) {
    return StoreConfig.builder(directory)
        .memoryBytes(1 << 20)
        .logMemoryBytes(8 * PAGE_BYTES)
        .pageBytes(PAGE_BYTES)
        .indexBytes(256)
        .recordKind(RecordKind.LONGS)
        .versionShift(shift)
        .build();
  }

  private FasterStore open(VersionShift shift) {
    return FasterStore.open(config(shift), device);
  }

  private PhaseStepper stepper(FasterStore store) {
    return new PhaseStepper(store, () -> token.set(store.checkpoints().take()));
  }

  private static LongSession<Void> session(FasterStore store, String name) {
    return store
        .newSession()
        .identity(SessionIdentity.start(name))
        .longs(LongFunctions.<Void>sum());
  }

  /** A session whose updates of keys on disk are pending. */
  private static LongSession<Void> parked(FasterStore store) {
    return store
        .newSession()
        .identity(SessionIdentity.start("parked"))
        .mode(SessionMode.PENDING)
        .longs(LongFunctions.<Void>sum());
  }

  /** Writes other keys until all earlier records are evicted. */
  private static void evict(LongSession<Void> filler) {
    for (long key = 1000; key < 4000; key++) {
      filler.upsert(key, key, null);
    }
  }

  private static long value(FasterStore store, long key) {
    try (var session = store.newSession().longs(LongFunctions.<Void>sum())) {
      return session.read(key, null) == Status.FOUND ? session.value() : -1;
    }
  }

  /** The checkpoint, taken before the store was closed. */
  private FasterStore recover(VersionShift shift) {
    return FasterStore.recover(config(shift), token.get(), device);
  }

  @ParameterizedTest
  @EnumSource
  void updatesOfTheNewVersionAreNotInTheCheckpoint(VersionShift shift) {
    AtomicReference<SortedMap<String, CommitPoint>> points = new AtomicReference<>();
    try (FasterStore store = open(shift);
        LongSession<Void> first = session(store, "first");
        LongSession<Void> second = session(store, "second");
        PhaseStepper stepper = stepper(store)) {
      store.checkpoints().onCommit(commit -> points.set(commit.points()));
      first.rmw(1, 1, null);
      first.upsert(2, 20, null);
      first.upsert(3, 30, null);
      stepper.goTo(Phase.PREPARE);
      assertThat(first.rmw(1, 1, null)).isEqualTo(Status.UPDATED_IN_PLACE);
      second.upsert(4, 40, null);
      stepper.goTo(Phase.IN_PROGRESS);
      if (shift == VersionShift.FINE) {
        assertThat(first.rmw(1, 100, null)).isEqualTo(Status.COPIED);
        assertThat(first.rmw(1, 100, null)).isEqualTo(Status.UPDATED_IN_PLACE);
        first.delete(3, null);
      }
      first.upsert(2, 21, null);
      first.upsert(5, 50, null);
      stepper.goTo(Phase.WAIT_PENDING);
      first.rmw(1, 100, null);
      second.rmw(4, 1, null);
      second.delete(4, null);
      first.upsert(6, 60, null);
      stepper.goTo(Phase.WAIT_FLUSH);
      second.upsert(6, 61, null);
      second.upsert(2, 22, null);
      stepper.finish();
      long before = shift == VersionShift.FINE ? 302 : 102;
      assertThat(value(store, 1)).isEqualTo(before);
      assertThat(value(store, 2)).isEqualTo(22);
      assertThat(value(store, 4)).isEqualTo(-1);
      assertThat(value(store, 6)).isEqualTo(61);
      assertThat(points.get().get("first").serial()).isEqualTo(4);
      assertThat(points.get().get("second").serial()).isEqualTo(1);
      StoreInvariants.check(store);
    }
    try (FasterStore store = recover(shift)) {
      assertThat(value(store, 1)).isEqualTo(2);
      assertThat(value(store, 2)).isEqualTo(20);
      assertThat(value(store, 3)).isEqualTo(30);
      assertThat(value(store, 4)).isEqualTo(40);
      assertThat(value(store, 5)).isEqualTo(-1);
      assertThat(value(store, 6)).isEqualTo(-1);
      StoreInvariants.check(store);
    }
  }

  /**
   * An update in place of the old version is in progress: an update of the new version takes effect
   * after it.
   */
  @ParameterizedTest
  @EnumSource
  void anUpdateOfTheNewVersionWaitsForOneOfTheOldThatIsUnderWay(VersionShift shift) {
    try (FasterStore store = open(shift);
        LongSession<Void> other = session(store, "other");
        PhaseStepper stepper = stepper(store)) {
      other.rmw(1, 1, null);
      stepper.goTo(Phase.PREPARE);
      Pause pause = new Pause();
      pause.start(() -> {
        try (var session = store.newSession().longs(new SlowSum(pause))) {
          assertThat(session.rmw(1, 10, null)).isEqualTo(Status.UPDATED_IN_PLACE);
        }
      });
      stepper.goTo(Phase.IN_PROGRESS);
      AtomicReference<Status> status = new AtomicReference<>();
      Thread late = Pause.begin(() -> status.set(other.rmw(1, 100, null)));
      Pause.awaitWaiting(late);
      assertThat(status).hasNullValue();
      pause.finish();
      stepper.finish();
      Pause.join(late);
      assertThat(value(store, 1)).isEqualTo(111);
    }
    try (FasterStore store = recover(shift)) {
      assertThat(value(store, 1)).isEqualTo(11);
    }
  }

  /**
   * A session becomes idle with an update pending: the checkpoint includes the update, without a
   * call of the session.
   */
  @ParameterizedTest
  @EnumSource
  void pendingUpdatesOfAParkedSessionAreInTheCheckpoint(VersionShift shift) {
    try (FasterStore store = open(shift);
        LongSession<Void> filler = session(store, "filler");
        LongSession<Void> parked = parked(store)) {
      filler.rmw(1, 1, null);
      evict(filler);
      assertThat(parked.rmw(1, 10, null)).isEqualTo(Status.PENDING);
      token.set(store.checkpoints().take());
      assertThat(value(store, 1)).isEqualTo(11);
      // A later update of the session belongs to the next version.
      assertThat(parked.rmw(1, 100, null)).isNotEqualTo(Status.NOT_FOUND);
      assertThat(parked.completePending(true)).isZero();
      assertThat(value(store, 1)).isEqualTo(111);
      assertThat(parked.serial()).isEqualTo(2);
      StoreInvariants.check(store);
    }
    try (FasterStore store = recover(shift)) {
      assertThat(value(store, 1)).isEqualTo(11);
    }
  }

  /**
   * Pending operations of the old version take effect before those of the new one, in whatever
   * order they complete.
   */
  @ParameterizedTest
  @EnumSource
  void anUpdateOfTheNewVersionWaitsForOneOfTheOldThatIsPending(VersionShift shift) {
    try (FasterStore store = open(shift);
        LongSession<Void> filler = session(store, "filler");
        LongSession<Void> parked = parked(store)) {
      filler.rmw(1, 1, null);
      evict(filler);
      assertThat(parked.rmw(1, 10, null)).isEqualTo(Status.PENDING);
      try (PhaseStepper stepper = stepper(store)) {
        stepper.goTo(Phase.IN_PROGRESS);
        AtomicReference<Status> status = new AtomicReference<>();
        Thread late = Pause.begin(() -> status.set(filler.upsert(1, 5000, null)));
        Pause.awaitWaiting(late);
        assertThat(status).hasNullValue();
        stepper.finish();
        Pause.join(late);
      }
      parked.completePending(true);
      assertThat(value(store, 1)).isEqualTo(5000);
    }
    try (FasterStore store = recover(shift)) {
      assertThat(value(store, 1)).isEqualTo(11);
    }
  }

  /**
   * A session waits with an update of the new version for a pending update of its own, of the old
   * version and in the same bucket: the driver completes the pending update.
   */
  @ParameterizedTest
  @EnumSource
  void aSessionThatWaitsForItsOwnPendingUpdateIsHelped(VersionShift shift) {
    try (FasterStore store = open(shift);
        LongSession<Void> filler = session(store, "filler");
        LongSession<Void> parked = parked(store)) {
      for (long key = 1; key <= 40; key++) {
        filler.rmw(key, 1, null);
      }
      evict(filler);
      // Four buckets: each key of the first half shares its bucket with some of the second half.
      for (long key = 1; key <= 20; key++) {
        assertThat(parked.rmw(key, 10, null)).isEqualTo(Status.PENDING);
      }
      try (PhaseStepper stepper = stepper(store)) {
        stepper.goTo(Phase.IN_PROGRESS);
        Thread late =
            Pause.begin(() -> {
              for (long key = 21; key <= 40; key++) {
                parked.rmw(key, 100, null);
              }
              parked.completePending(true);
            });
        Pause.awaitWaiting(late);
        stepper.finish();
        Pause.join(late);
      }
      assertThat(value(store, 20)).isEqualTo(11);
      assertThat(value(store, 21)).isEqualTo(101);
    }
    try (FasterStore store = recover(shift)) {
      for (long key = 1; key <= 40; key++) {
        assertThat(value(store, key)).isEqualTo(key <= 20 ? 11 : 1);
      }
    }
  }
}
