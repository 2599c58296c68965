package io.fasterkv.cpr;

import io.fasterkv.FasterStore;
import io.fasterkv.Insides;
import io.fasterkv.LongSession;
import io.fasterkv.Session;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.checkpoint.CommitPoint;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.session.CopyReads;
import io.fasterkv.api.session.SessionIdentity;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.checkpoint.shift.CheckpointDriver;
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

/**
 * A store with named sessions, whose names are numbers in this package, and their commit points.
 */
final class CprStore implements AutoCloseable {
  /**
   * A checkpoint, and each session's commit point in it.
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

  /** All checkpoint kinds from which a store can be recovered, with and without the index. */
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
  private final AtomicReference<io.fasterkv.api.checkpoint.Commit> reported =
      new AtomicReference<>();
  private CheckpointDriver driver;

  private CprStore(FasterStore store) {
    this.store = store;
    List<CheckpointToken> tokens = store.checkpoints().list();
    long number = tokens.isEmpty() ? 0 : tokens.getLast().number();
    recovered = new Commit(number, new TreeMap<>(store.checkpoints().recoveredPoints()));
    driver = Insides.driver(store);
    driver.listen(reported::set);
  }

  /** Replaces the store's checkpoint driver with another one. */
  void driveBy(UnaryOperator<CheckpointDriver> drivers) {
    CheckpointDriver other = drivers.apply(driver);
    if (!other.equals(driver)) {
      driver = other;
      driver.listen(reported::set);
    }
  }

  static CprStore open(StoreConfig config, LogDevice device) {
    return new CprStore(FasterStore.open(config, device));
  }

  static CprStore recover(StoreConfig config, CheckpointToken token, LogDevice device) {
    return new CprStore(FasterStore.recover(config, token, device));
  }

  /** Opens the newest checkpoint, or an empty store if there is no checkpoint. */
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

  /** The checkpoint from which the store was opened. */
  Commit recovered() {
    return recovered;
  }

  /**
   * The serial number after which a session continued when the store was opened; 0 if it is new.
   */
  long point(int session) {
    return recovered.point(session);
  }

  /** A session that continues where the last session of its name ended, or a new one. */
  StampedSession session(int number, SessionMode mode, int maxBytes) {
    return session(identity(number), mode, maxBytes, CopyReads.values()[number % 3]);
  }

  /** The identity that continues where the last session of that number ended, or a new one. */
  SessionIdentity identity(int number) {
    String name = name(number);
    return recovered.points.containsKey(name)
        ? SessionIdentity.resume(name)
        : SessionIdentity.start(name);
  }

  /** Like {@link #session(int, SessionMode, int)}, for a session of any kind. */
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
          store
              .newSession()
              .identity(identity)
              .asyncLongs(StampedSession.Longs.functions(), executor));
    }
    SumFunctions functions = new SumFunctions(maxBytes);
    return new AsyncStampedSession.Spans(
        store.newSession().identity(identity).asyncSpans(functions, executor), functions);
  }

  /** A session that continues where the last session of its name, in this store, ended. */
  StampedSession resume(int number, SessionMode mode, int maxBytes) {
    return session(SessionIdentity.resume(name(number)), mode, maxBytes, CopyReads.NEVER);
  }

  private StampedSession session(
      SessionIdentity identity, SessionMode mode, int maxBytes, CopyReads copies) {
    if (store.config().recordKind() == RecordKind.LONGS) {
      LongSession<Found> longs =
          store.newSession().identity(identity).mode(mode).longs(StampedSession.Longs.functions());
      longs.copyReads(copies);
      return new StampedSession.Longs(longs);
    }
    SumFunctions functions = new SumFunctions(maxBytes);
    Session<Long, SumFunctions.Result, Found> spans =
        store.newSession().identity(identity).mode(mode).spans(functions);
    spans.copyReads(copies);
    return new StampedSession.Spans(spans, functions);
  }

  /** A session without a name. */
  StampedSession anonymous(SessionMode mode, int maxBytes) {
    if (store.config().recordKind() == RecordKind.LONGS) {
      return new StampedSession.Longs(
          store.newSession().mode(mode).longs(StampedSession.Longs.functions()));
    }
    SumFunctions functions = new SumFunctions(maxBytes);
    return new StampedSession.Spans(store.newSession().mode(mode).spans(functions), functions);
  }

  /**
   * Takes a checkpoint of any kind from which a store can be recovered, sometimes after one of the
   * index.
   */
  Commit checkpoint(SplittableRandom dice) {
    if (dice.nextInt(INDEX_ONE_IN) == 0) {
      store.checkpoints().take(CheckpointRequest.indexOnly());
    }
    return checkpoint(REQUESTS.get(dice.nextInt(REQUESTS.size())));
  }

  /** Takes a checkpoint; only one thread may call this at a time. */
  Commit checkpoint(CheckpointRequest request) {
    CheckpointToken token = driver.take(request);
    io.fasterkv.api.checkpoint.Commit commit = reported.get();
    if (!commit.token().equals(token)) {
      throw new AssertionError("the reported commit is " + commit.token() + " instead of " + token);
    }
    return new Commit(token.number(), commit.points());
  }

  @Override
  public void close() {
    store.close();
  }
}
