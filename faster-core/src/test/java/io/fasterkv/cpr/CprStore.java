package io.fasterkv.cpr;

import io.fasterkv.FasterStore;
import io.fasterkv.Insides;
import io.fasterkv.LongSession;
import io.fasterkv.Session;
import io.fasterkv.api.CheckpointKind;
import io.fasterkv.api.CheckpointRequest;
import io.fasterkv.api.CheckpointToken;
import io.fasterkv.api.CommitPoint;
import io.fasterkv.api.CopyReads;
import io.fasterkv.api.RecoveryRequest;
import io.fasterkv.api.SessionIdentity;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreConfig.RecordKind;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.checkpoint.CheckpointDriver;
import io.fasterkv.cpr.SumFunctions.Found;
import io.fasterkv.device.LogDevice;
import java.util.List;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

/** A store whose sessions have names, which are numbers in this room, and points. */
final class CprStore implements AutoCloseable {
  /**
   * A checkpoint, and each session's point in it.
   *
   * @param number 0 for the empty store
   */
  record Commit(long number, SortedMap<String, CommitPoint> points) {
    CheckpointToken token() {
      return new CheckpointToken(number);
    }

    long point(int session) {
      return points.getOrDefault(name(session), CommitPoint.NONE).serial();
    }
  }

  /** Every kind that can be recovered from, with the index and without. */
  static final List<CheckpointRequest> REQUESTS =
      List.of(
          CheckpointRequest.full(CheckpointKind.FOLD_OVER),
          CheckpointRequest.logOnly(CheckpointKind.FOLD_OVER),
          CheckpointRequest.full(CheckpointKind.SNAPSHOT),
          CheckpointRequest.logOnly(CheckpointKind.SNAPSHOT),
          CheckpointRequest.full(CheckpointKind.INCREMENTAL_SNAPSHOT),
          CheckpointRequest.logOnly(CheckpointKind.INCREMENTAL_SNAPSHOT));

  private static final int INDEX_ONE_IN = 8;

  private final FasterStore store;
  private final Commit recovered;
  private final AtomicReference<io.fasterkv.api.Commit> told = new AtomicReference<>();
  private CheckpointDriver driver;

  private CprStore(FasterStore store) {
    this.store = store;
    List<CheckpointToken> tokens = store.checkpoints();
    long number = tokens.isEmpty() ? 0 : tokens.getLast().number();
    recovered = new Commit(number, new TreeMap<>(store.recoveredPoints()));
    driver = Insides.driver(store);
    driver.listen(told::set);
  }

  /** Has checkpoints taken by another driver than the store's. */
  void driveBy(UnaryOperator<CheckpointDriver> drivers) {
    CheckpointDriver other = drivers.apply(driver);
    if (!other.equals(driver)) {
      driver = other;
      driver.listen(told::set);
    }
  }

  static CprStore open(StoreConfig config, LogDevice device) {
    return new CprStore(FasterStore.open(config, device));
  }

  static CprStore recover(StoreConfig config, CheckpointToken token, LogDevice device) {
    return new CprStore(FasterStore.recover(config, token, device));
  }

  /** The newest checkpoint, or an empty store if there is none. */
  static CprStore openOrRecover(StoreConfig config, LogDevice device) {
    try {
      return new CprStore(FasterStore.open(config, device));
    } catch (BadConfig e) {
      return new CprStore(FasterStore.recover(config, RecoveryRequest.newest(), device));
    }
  }

  static String name(int session) {
    return "session " + session;
  }

  FasterStore store() {
    return store;
  }

  /** What the store began with. */
  Commit recovered() {
    return recovered;
  }

  /** Where a session went on when the store began: 0 if it is new. */
  long point(int session) {
    return recovered.point(session);
  }

  /** A session that goes on where the last of its name has ended, or begins. */
  StampedSession session(int number, SessionMode mode, int maxBytes) {
    return session(identity(number), mode, maxBytes, CopyReads.values()[number % 3]);
  }

  /** Goes on where the last session of that number has ended, or begins. */
  SessionIdentity identity(int number) {
    String name = name(number);
    return recovered.points.containsKey(name)
        ? SessionIdentity.resume(name)
        : SessionIdentity.start(name);
  }

  /** As {@link #session(int, SessionMode, int)}, of any kind of session that there is. */
  StampedSession anySession(int number, SplittableRandom dice, int maxBytes) {
    SessionMode[] modes = SessionMode.values();
    int choice = dice.nextInt(modes.length + 1);
    return choice < modes.length
        ? session(number, modes[choice], maxBytes)
        : asyncSession(identity(number), maxBytes);
  }

  private StampedSession asyncSession(SessionIdentity identity, int maxBytes) {
    Executor executor = ForkJoinPool.commonPool();
    if (store.config().recordKind() == RecordKind.LONGS) {
      return new AsyncStampedSession.Longs(
          store.newAsyncLongSession(identity, StampedSession.Longs.functions(), executor));
    }
    SumFunctions functions = new SumFunctions(maxBytes);
    return new AsyncStampedSession.Spans(
        store.newAsyncSession(identity, functions, executor), functions);
  }

  /** A session that goes on where the last of its name, in this store, has ended. */
  StampedSession resume(int number, SessionMode mode, int maxBytes) {
    return session(SessionIdentity.resume(name(number)), mode, maxBytes, CopyReads.NEVER);
  }

  private StampedSession session(
      SessionIdentity identity, SessionMode mode, int maxBytes, CopyReads copies) {
    if (store.config().recordKind() == RecordKind.LONGS) {
      LongSession<Found> longs =
          store.newLongSession(identity, StampedSession.Longs.functions(), mode);
      longs.copyReads(copies);
      return new StampedSession.Longs(longs);
    }
    SumFunctions functions = new SumFunctions(maxBytes);
    Session<Long, SumFunctions.Result, Found> spans = store.newSession(identity, functions, mode);
    spans.copyReads(copies);
    return new StampedSession.Spans(spans, functions);
  }

  /** A session without a name. */
  StampedSession anonymous(SessionMode mode, int maxBytes) {
    if (store.config().recordKind() == RecordKind.LONGS) {
      return new StampedSession.Longs(store.newLongSession(StampedSession.Longs.functions(), mode));
    }
    SumFunctions functions = new SumFunctions(maxBytes);
    return new StampedSession.Spans(store.newSession(functions, mode), functions);
  }

  /** Takes a checkpoint of any kind that can be recovered from, now and then after the index. */
  Commit checkpoint(SplittableRandom dice) {
    if (dice.nextInt(INDEX_ONE_IN) == 0) {
      store.checkpoint(CheckpointRequest.indexOnly());
    }
    return checkpoint(REQUESTS.get(dice.nextInt(REQUESTS.size())));
  }

  /** Takes a checkpoint; one thread at a time. */
  Commit checkpoint(CheckpointRequest request) {
    CheckpointToken token = driver.take(request);
    io.fasterkv.api.Commit commit = told.get();
    if (!commit.token().equals(token)) {
      throw new AssertionError("told of " + commit.token() + " instead of " + token);
    }
    return new Commit(token.number(), commit.points());
  }

  @Override
  public void close() {
    store.close();
  }
}
