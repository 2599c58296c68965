package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.state.Phase;
import io.fasterkv.state.SystemState;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that a version shift completes properly whichever of its steps fails. */
class FailedShiftTest {
  private static final int PAGE_BYTES = 4096;
  private static final int BUCKETS = 64;
  private static final ByteSpan ON_DISK = HashedKeys.key(HashedKeys.inBucket(1, BUCKETS), 1);
  private static final ByteSpan MUTABLE =
      HashedKeys.key(HashedKeys.inBucket(BUCKETS - 2, BUCKETS), 1);

  @TempDir Path directory;

  private FasterStore store;

  @BeforeEach
  void open() {
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(1 << 20)
            .logMemoryBytes(4 * PAGE_BYTES)
            .pageBytes(PAGE_BYTES)
            .indexBytes(BUCKETS * 64)
            .keyHash(HashedKeys::hash)
            .build();
    store = FasterStore.open(config, new MemoryDevice());
  }

  @AfterEach
  void close() {
    store.close();
  }

  private Session<Long, long[], Object> session() {
    return store.newSession().spans(StoppingSum.plain());
  }

  private long sum(ByteSpan key) {
    long[] sum = new long[1];
    try (var session = session()) {
      assertThat(session.read(key, 0L, sum, null)).isEqualTo(Status.FOUND);
    }
    return sum[0];
  }

  private void add(ByteSpan key, Runnable beforeCopy) {
    try (var session = store.newSession().spans(new StoppingSum(beforeCopy))) {
      session.rmw(key, 1L, null);
    }
  }

  private long word() {
    return Insides.engine(store).versions().state().word();
  }

  /**
   * Sets both keys to one: the record of the first is on disk, that of the other may be updated in
   * place.
   */
  private void fill() {
    add(ON_DISK, () -> {});
    long end = store.log().tailAddress();
    try (var session = session()) {
      for (int i = 0; Insides.engine(store).log().headAddress() < end; i++) {
        session.upsert(HashedKeys.key(0, i), ByteSpan.of(new byte[900]), null);
      }
    }
    add(MUTABLE, () -> {});
  }

  /**
   * The driver completes a pending update for its session, whose function throws an error, while
   * another session copies a record of the old version. The copy must not miss later updates.
   */
  @ParameterizedTest
  @EnumSource(
      value = CheckpointKind.class,
      names = {"FOLD_OVER", "SNAPSHOT"})
  void anErrorOfAPendingUpdateDoesNotEndTheShiftDuringACopy(CheckpointKind kind) {
    fill();
    Pause deputy = new Pause();
    AtomicBoolean hasThrown = new AtomicBoolean();
    Runnable throwsOnce =
        () -> {
          deputy.here();
          if (!hasThrown.getAndSet(true)) {
            throw new AssertionError("of the user");
          }
        };
    AtomicReference<Throwable> failure = new AtomicReference<>();
    try (var pending =
        store.newSession().mode(SessionMode.PENDING).spans(new StoppingSum(throwsOnce))) {
      assertThat(pending.rmw(ON_DISK, 1L, null)).isEqualTo(Status.PENDING);
      deputy.start(() ->
          failure.set(
              catchThrowable(() -> store.checkpoints().take(CheckpointRequest.full(kind)))));
      Pause copy = new Pause();
      copy.start(() -> add(MUTABLE, copy::here));
      deputy.release();
      while (!deputy.hasEnded() && SystemState.phase(word()) != Phase.WAIT_FLUSH) {
        Thread.onSpinWait();
      }
      Thread other = Pause.begin(() -> add(MUTABLE, () -> {}));
      while (other.isAlive() && other.getState() != Thread.State.TIMED_WAITING) {
        Thread.onSpinWait();
      }
      copy.finish();
      Pause.join(other);
      deputy.finish();
      assertThat(failure.get()).hasMessage("of the user");
      assertThat(sum(MUTABLE)).isEqualTo(3);
      pending.completePending(true);
      assertThat(sum(ON_DISK)).isEqualTo(2);
    }
    StoreInvariants.check(store);
    assertThat(store.checkpoints().take().number()).isPositive();
  }

  /**
   * All epoch slots are taken after the shift has begun: it already has the slots that it needs.
   * Writing the checkpoint may still fail for lack of a slot.
   */
  @Test
  void aShiftThatHasBegunNeedsNoPlaceMore() {
    fill();
    Epochs epochs = Insides.engine(store).epochs();
    EpochUser holder = epochs.register();
    holder.protect();
    List<EpochUser> others = new ArrayList<>();
    long end = store.log().tailAddress();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread checkpoint =
        Pause.begin(() -> failure.set(catchThrowable(() -> store.checkpoints().take())));
    try {
      Pause.awaitWaiting(checkpoint);
      assertThat(SystemState.phase(word())).isEqualTo(Phase.PREPARE);
      takeAll(epochs, others);
      holder.unprotect();
      Pause.join(checkpoint);
      assertThat(failure.get()).isInstanceOf(OutOfBudget.class);
      assertThat(SystemState.phase(word())).isEqualTo(Phase.REST);
      assertThat(Insides.engine(store).log().readOnlyAddress()).isGreaterThanOrEqualTo(end);
    } finally {
      others.forEach(EpochUser::close);
      holder.close();
    }
    assertThat(sum(ON_DISK)).isEqualTo(1);
  }

  @Test
  void aShiftThatFindsNoPlaceDoesNotBegin() {
    List<EpochUser> others = new ArrayList<>();
    takeAll(Insides.engine(store).epochs(), others);
    long before = word();
    assertThatThrownBy(() -> store.checkpoints().take()).isInstanceOf(OutOfBudget.class);
    assertThat(word()).isEqualTo(before);
    others.forEach(EpochUser::close);
    assertThat(store.checkpoints().take().number()).isPositive();
  }

  private static void takeAll(Epochs epochs, List<EpochUser> taken) {
    try {
      while (true) {
        taken.add(epochs.register());
      }
    } catch (OutOfBudget e) {
      assertThat(taken).isNotEmpty();
    }
  }
}
