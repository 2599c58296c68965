package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.LongResult;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.StoreException.OperationFailed;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.session.SessionIdentity;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.sim.ScriptedDevice;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests operations that fail while they are pending: the others complete, each failure is reported
 * with its serial number, and a checkpoint lists the excluded ones.
 */
class PendingFailureTest {
  private static final int PAGE_BYTES = 4096;
  private static final int KEYS = 10;
  private static final String NAME = "worker";

  @TempDir Path directory;

  private final MemoryDevice memory = new MemoryDevice();
  private final ScriptedDevice device = new ScriptedDevice(memory);

  /** Adds; throws for these keys. */
  private static class Picky implements LongFunctions<Object> {
    private final Set<Long> refused = new HashSet<>();
    private final List<Long> completed = new ArrayList<>();

    Picky(Long... keys) {
      refused.addAll(List.of(keys));
    }

    @Override
    public long initialUpdater(long key, long input) {
      return updater(key, input, 0);
    }

    @Override
    public long updater(long key, long input, long oldValue) {
      if (refused.contains(key)) {
        throw new ArithmeticException("refused: key=" + key);
      }
      return oldValue + input;
    }

    @Override
    public void completionCallback(Status status, long key, long value, Object context) {
      completed.add(key);
    }
  }

  private StoreConfigBuilder config(RecordKind kind) {
    return StoreConfig.builder(directory)
        .memoryBytes(1 << 20)
        .logMemoryBytes(4L * PAGE_BYTES)
        .pageBytes(PAGE_BYTES)
        .indexBytes(4096)
        .recordKind(kind);
  }

  private FasterStore open() {
    return FasterStore.open(config(RecordKind.LONGS).build(), device);
  }

  private FasterStore recover() {
    return FasterStore.recover(
        config(RecordKind.LONGS).build(),
        io.fasterkv.api.checkpoint.RecoveryRequest.newest(),
        device);
  }

  /** The keys are on disk, with the value 100 each. */
  private static void fill(FasterStore store) {
    try (LongSession<Object> session = store.newSession().longs(new Picky())) {
      for (long key = 1; key <= KEYS; key++) {
        session.upsert(key, 100, null);
      }
      long end = store.log().tailAddress();
      for (long key = 1000; Insides.engine(store).log().headAddress() < end; key++) {
        session.upsert(key, 0, null);
      }
    }
  }

  private static LongSession<Object> session(FasterStore store, Picky functions) {
    return store
        .newSession()
        .identity(SessionIdentity.start(NAME))
        .mode(SessionMode.PENDING)
        .longs(functions);
  }

  private static Set<Long> updated(FasterStore store) {
    Set<Long> updated = new TreeSet<>();
    try (LongSession<Object> session = store.newSession().longs(new Picky())) {
      for (long key = 1; key <= KEYS; key++) {
        session.read(key, null);
        if (session.value() != 100) {
          assertThat(session.value()).isEqualTo(101);
          updated.add(key);
        }
      }
    }
    return updated;
  }

  private static void addToAll(LongSession<Object> session) {
    for (long key = 1; key <= KEYS; key++) {
      assertThat(session.rmw(key, 1, "context of " + key)).isEqualTo(Status.PENDING);
    }
  }

  /**
   * Operation n is on key n: the store has all operations up to the point except the excluded ones.
   */
  private void assertRecoversExactly(Long... failed) {
    try (FasterStore store = recover()) {
      assertThat(Reported.serial(store, NAME)).isEqualTo(KEYS);
      Set<Long> promised = new TreeSet<>(LongStream.rangeClosed(1, KEYS).boxed().toList());
      promised.removeAll(Reported.excluded(store, NAME));
      assertThat(updated(store)).isEqualTo(promised);
      assertThat(Reported.excluded(store, NAME)).containsExactly(failed);
    }
  }

  @Test
  void aClosedSessionCompletesOthersAndTheCheckpointListsFailures() {
    try (FasterStore store = open()) {
      fill(store);
      LongSession<Object> session = session(store, new Picky(4L));
      addToAll(session);
      Throwable failure = catchThrowable(session::close);
      assertThat(failure).isNotNull();
      store.checkpoints().take();
    }
    assertRecoversExactly(4L);
  }

  @Test
  void completePendingCompletesTheOthersAndReportsOneFailureAtATime() {
    try (FasterStore store = open()) {
      fill(store);
      Picky functions = new Picky(4L, 7L);
      try (LongSession<Object> session = session(store, functions)) {
        addToAll(session);
        List<Throwable> failures = new ArrayList<>();
        failures.add(catchThrowable(() -> session.completePending(true)));
        assertThat(functions.completed).containsExactlyInAnyOrder(1L, 2L, 3L, 5L, 6L, 8L, 9L, 10L);
        failures.add(catchThrowable(() -> session.completePending(false)));
        assertThat(session.completePending(true)).isZero();
        assertThat(failures)
            .allMatch(OperationFailed.class::isInstance)
            .allMatch(failure -> failure.getCause() instanceof ArithmeticException)
            .extracting(Reported::serial)
            .containsExactlyInAnyOrder(4L, 7L);
        for (Throwable failure : failures) {
          OperationFailed failed = (OperationFailed) failure;
          assertThat(failed.longKey()).isEqualTo(failed.serial());
          assertThat(failed.context()).isEqualTo("context of " + failed.serial());
        }
        store.checkpoints().take();
      }
    }
    assertRecoversExactly(4L, 7L);
  }

  /** The user continues after a failure, with or without repeating the update. */
  @Test
  void reportedFailuresAreListedUntilTheSessionContinues() {
    List<List<Long>> excluded = new ArrayList<>();
    try (FasterStore store = open()) {
      fill(store);
      store.checkpoints().onCommit(commit -> excluded.add(commit.points().get(NAME).excluded()));
      Picky functions = new Picky(4L);
      try (LongSession<Object> session = session(store, functions)) {
        addToAll(session);
        store.checkpoints().take();
        store.checkpoints().take();
        assertThatThrownBy(() -> session.completePending(true)).isInstanceOf(OperationFailed.class);
        store.checkpoints().take();
        functions.refused.clear();
        session.rmw(4, 1, null);
        store.checkpoints().take();
        session.completePending(true);
        assertThat(updated(store)).hasSize(KEYS);
      }
      store.checkpoints().take();
    }
    assertThat(excluded)
        .containsExactly(List.of(4L), List.of(4L), List.of(4L), List.of(), List.of());
  }

  /**
   * The checkpoint completes the pending operations of an idle session; the session reports their
   * failures later.
   */
  @Test
  void aFailureThatTheCheckpointMetIsListedAndReportedToItsSession() {
    try (FasterStore store = open()) {
      fill(store);
      try (LongSession<Object> session = session(store, new Picky(2L, 9L))) {
        addToAll(session);
        store.checkpoints().take();
        Set<Long> serials = new TreeSet<>();
        for (int i = 0; i < 2; i++) {
          serials.add(Reported.serial(catchThrowable(() -> session.completePending(true))));
        }
        assertThat(serials).containsExactly(2L, 9L);
        assertThat(session.completePending(true)).isZero();
      }
    }
    assertRecoversExactly(2L, 9L);
  }

  @Test
  void aRecordThatCannotBeReadFailsItsOwnOperationAndNoCheckpoint() {
    try (FasterStore store = open()) {
      fill(store);
      Picky functions = new Picky();
      LongSession<Object> session = session(store, functions);
      int[] reads = {0};
      device.setScript(
          new ScriptedDevice.Script() {
            @Override
            public void beforeRead(long address, long bytes) throws IOException {
              reads[0]++;
              if (reads[0] == 3) {
                throw new IOException("on purpose");
              }
            }
          });
      addToAll(session);
      Throwable failure = catchThrowable(session::close);
      assertThat(failure).isNotNull();
      device.setScript(ScriptedDevice.Script.NONE);
      store.checkpoints().take();
      assertThat(failure).isInstanceOf(OperationFailed.class);
      assertThat(failure).hasCauseInstanceOf(DeviceFailed.class);
      assertThat(functions.completed).hasSize(KEYS - 1);
    }
    assertRecoversExactly(3L);
  }

  /** A read changes nothing, so no checkpoint lists it; it is reported like an update. */
  @Test
  void aReadThatFailsIsReportedAndNotListed() {
    try (FasterStore store = open()) {
      fill(store);
      try (LongSession<Object> session = session(store, new Picky())) {
        device.setScript(
            new ScriptedDevice.Script() {
              @Override
              public void beforeRead(long address, long bytes) throws IOException {
                throw new IOException("on purpose");
              }
            });
        assertThat(session.read(1, "of the read")).isEqualTo(Status.PENDING);
        OperationFailed failure =
            (OperationFailed) catchThrowable(() -> session.completePending(true));
        assertThat(failure.serial()).isEqualTo(1);
        assertThat(failure.context()).isEqualTo("of the read");
        device.setScript(ScriptedDevice.Script.NONE);
      }
      store.checkpoints().take();
    }
    try (FasterStore store = recover()) {
      assertThat(Reported.serial(store, NAME)).isEqualTo(1);
      assertThat(Reported.excluded(store, NAME)).isEmpty();
    }
  }

  @Test
  void aResumedSessionInheritsFailuresOfItsLastLife() {
    List<List<Long>> excluded = new ArrayList<>();
    try (FasterStore store = open()) {
      fill(store);
      LongSession<Object> first = session(store, new Picky(4L, 5L));
      addToAll(first);
      assertThatThrownBy(first::close)
          .isInstanceOf(OperationFailed.class)
          .satisfies(failure -> assertThat(failure.getSuppressed()).hasSize(1));
      store.checkpoints().take();
    }
    try (FasterStore store = recover()) {
      store.checkpoints().onCommit(commit -> excluded.add(commit.points().get(NAME).excluded()));
      assertThat(Reported.excluded(store, NAME)).containsExactly(4L, 5L);
      store.checkpoints().take();
      try (LongSession<Object> again =
          store.newSession().identity(SessionIdentity.resume(NAME)).longs(new Picky())) {
        store.checkpoints().take();
        again.rmw(4, 1, null);
        again.rmw(5, 1, null);
        store.checkpoints().take();
      }
      assertThat(updated(store)).hasSize(KEYS);
    }
    assertThat(excluded).containsExactly(List.of(4L, 5L), List.of(4L, 5L), List.of());
  }

  /** Stages that fail; the executor's tasks run when this thread lets them. */
  @Test
  void aStageThatFailsNamesItsOperation() {
    Deque<Runnable> tasks = new ArrayDeque<>();
    List<Throwable> failures = new ArrayList<>();
    try (FasterStore store = open()) {
      fill(store);
      AsyncLongSession session =
          store
              .newSession()
              .identity(SessionIdentity.start(NAME))
              .asyncLongs(new Picky(6L), tasks::add);
      List<CompletableFuture<LongResult>> stages = new ArrayList<>();
      for (long key = 1; key <= KEYS; key++) {
        stages.add(session.rmw(key, 1).toCompletableFuture());
      }
      store.checkpoints().take();
      while (!tasks.isEmpty()) {
        tasks.poll().run();
      }
      session.close();
      stages.forEach(stage ->
          stage.whenComplete((status, failure) -> {
            if (failure != null) {
              failures.add(failure.getCause());
            }
          }));
    }
    assertThat(failures).hasSize(1);
    assertRecoversExactly(6L);
    assertThat(Reported.serial(failures.getFirst())).isEqualTo(6);
  }

  /** An exception of the completion callback does not affect the operation, which has ended. */
  @Test
  void aCompletionCallbackThatThrowsFailsNoOperation() {
    try (FasterStore store = open()) {
      fill(store);
      Picky functions =
          new Picky() {
            @Override
            public void completionCallback(Status status, long key, long value, Object context) {
              super.completionCallback(status, key, value, context);
              if (key % 2 == 0) {
                throw new IllegalStateException("callback of " + key);
              }
            }
          };
      try (LongSession<Object> session = session(store, functions)) {
        addToAll(session);
        for (int i = 0; i < KEYS / 2; i++) {
          assertThatThrownBy(() -> session.completePending(true))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("callback of");
          assertThat(functions.completed).hasSize(KEYS);
        }
        assertThat(session.completePending(true)).isZero();
      }
      store.checkpoints().take();
    }
    assertRecoversExactly();
  }

  /**
   * Updates of records that need more buffers, in a session that finds none: each update without a
   * reported failure has taken effect.
   */
  @Test
  void anUpdateThatFindsNoScratchMemoryIsReported() {
    StoreConfig config = config(RecordKind.SPANS).scratchBytes(4 * PAGE_BYTES).build();
    int keys = 60;
    Set<Long> failed = new TreeSet<>();
    try (FasterStore store = FasterStore.open(config, device)) {
      try (var session = store.newSession().spans(new BytesFunctions())) {
        for (int key = 1; key <= keys; key++) {
          session.upsert(ModelDriver.key(key), ByteSpan.of(new byte[2500]), null);
        }
      }
      store.log().cut().close();
      try (var session =
          store
              .newSession()
              .identity(SessionIdentity.start(NAME))
              .mode(SessionMode.PENDING)
              .spans(new BytesFunctions())) {
        session.completePending(true);
        List<MemorySegment> taken = new ArrayList<>();
        for (int key = 1; key <= keys; key++) {
          if (key % 2 == 0) {
            takeAll(Insides.engine(store).buffers(), taken);
          }
          long before = session.serial();
          Throwable failure = catchThrowable(() -> add(session, before + 1));
          boolean isAccepted = session.serial() > before;
          Throwable later = catchThrowable(() -> session.completePending(true));
          taken.forEach(Insides.engine(store).buffers()::give);
          taken.clear();
          assertThat(session.completePending(true)).isZero();
          if (failure != null) {
            assertThat(failure).isInstanceOf(OutOfBudget.class);
            assertThat(isAccepted).as("a call that throws is not counted").isFalse();
          } else if (later != null) {
            assertThat(later)
                .isInstanceOf(OperationFailed.class)
                .hasCauseInstanceOf(OutOfBudget.class);
            failed.add(Reported.serial(later));
          }
        }
        assertThat(failed).as("some updates have failed").isNotEmpty();
        long last = session.serial();
        var result = new BytesFunctions.Result();
        for (long serial = 1; serial <= last; serial++) {
          session.read(ModelDriver.key((int) serial), null, result, null);
          session.completePending(true);
          int length = result.value.length;
          assertThat(length > 2500).as("key " + serial).isEqualTo(!failed.contains(serial));
        }
      }
    }
  }

  private static void add(Session<byte[], BytesFunctions.Result, Object> session, long serial) {
    session.rmw(ModelDriver.key((int) serial), new byte[3], null);
  }

  /** Leaves only the memory that an operation needs to begin. */
  private static void takeAll(BufferPool buffers, List<MemorySegment> taken) {
    MemorySegment first = buffers.take(4 * BufferPool.MIN_BYTES);
    takeRest(buffers, taken);
    buffers.give(first);
  }

  private static void takeRest(BufferPool buffers, List<MemorySegment> taken) {
    MemorySegment next = buffers.tryTake(BufferPool.MIN_BYTES);
    while (next != null) {
      taken.add(next);
      next = buffers.tryTake(BufferPool.MIN_BYTES);
    }
  }

  @Test
  void aSessionThatNeverAsksForItsFailuresIsRefusedInTheEnd() {
    try (FasterStore store = open()) {
      fill(store);
      LongSession<Object> session =
          session(store, new Picky(LongStream.rangeClosed(1, KEYS).boxed().toArray(Long[]::new)));
      assertThatThrownBy(
              () -> {
                for (int i = 0; i < 5000; i++) {
                  session.rmw(1 + i % KEYS, 1, null);
                }
              })
          .isInstanceOf(OutOfBudget.class)
          .hasMessageContaining("completePending");
      long accepted = session.serial();
      assertThatThrownBy(session::close)
          .isInstanceOf(OperationFailed.class)
          .satisfies(failure -> assertThat(failure.getSuppressed()).hasSize((int) accepted - 1));
    }
  }
}
