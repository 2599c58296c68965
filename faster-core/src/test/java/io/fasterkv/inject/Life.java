package io.fasterkv.inject;

import io.fasterkv.Checkpoints;
import io.fasterkv.FasterStore;
import io.fasterkv.LogScan;
import io.fasterkv.api.Versions;
import io.fasterkv.api.checkpoint.CheckpointInfo;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.device.LogDevice;
import io.fasterkv.sim.SimulatedDisk;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A store from its opening to its close: sessions of three kinds, checkpoints of all kinds and
 * housekeeping, each on a thread of its own. Afterwards, its checkpoints are recovered.
 */
final class Life {
  private static final int SESSIONS = 3;
  private static final int OPERATIONS = 50;
  private static final int ATTEMPTS = 3;

  private final Trial trial;
  private final Order order;
  private final Setting setting;
  private final SimulatedDisk disk;
  private final Leaks leaks;
  private final SplittableRandom random;
  private final StoreConfig config;
  private final LazyRestore restore;

  /** Checkpoints up to this number are incomplete without the origin of their log. */
  private final long restoredUntil;

  private final StoreConfig quiet;
  private final CheckpointRequest indexOnly = CheckpointRequest.indexOnly();
  private final List<CheckpointRequest> requests = new ArrayList<>();
  private final List<SessionWork> works = new CopyOnWriteArrayList<>();
  private volatile Commit last;

  /** A checkpoint that was reported, and the minimum number of each session's operations in it. */
  private record Commit(CheckpointToken token, long[] atLeast) {}

  Life(Trial trial, Order order, SimulatedDisk disk, Leaks leaks) {
    this.trial = trial;
    this.order = order;
    this.disk = disk;
    this.leaks = leaks;
    setting = Setting.of(order.setting());
    random = new SplittableRandom(order.seed());
    config = setting.config(disk.directory());
    restore = setting.isLazyRestore() ? new LazyRestore(setting) : null;
    restoredUntil = restore == null ? 0 : restore.prepare(config);
    quiet = setting.quiet(disk.directory());
    for (CheckpointKind kind :
        List.of(
            CheckpointKind.FOLD_OVER,
            CheckpointKind.SNAPSHOT,
            CheckpointKind.INCREMENTAL_SNAPSHOT)) {
      requests.add(
          random(kind.ordinal()) ? CheckpointRequest.full(kind) : CheckpointRequest.logOnly(kind));
    }
  }

  void run(Actor director) throws InterruptedException {
    FasterStore store = open(director, config, this::openFirst);
    if (store == null) {
      return;
    }
    ExecutorService executor =
        Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("inject-go-on").factory());
    List<Actor> actors = new ArrayList<>();
    for (int i = 0; i < SESSIONS; i++) {
      int number = i;
      SplittableRandom dice = random.split();
      actors.add(trial.begin("session-" + i, actor -> work(actor, store, number, dice, executor)));
    }
    actors.add(trial.begin("checkpoints", actor -> commit(actor, store)));
    actors.add(trial.begin("chores", actor -> keepHouse(actor, store)));
    for (Actor actor : actors) {
      while (!actor.join()) {
        Thread.onSpinWait();
      }
    }
    requireOneTable(director, store);
    close(director, store);
    executor.shutdown();
    recoverAll(director);
  }

  private FasterStore openFirst(LogDevice device) {
    return restore == null ? FasterStore.open(config, device) : restore.open(config, device);
  }

  private interface Opening {
    FasterStore open(LogDevice device);
  }

  private FasterStore open(Actor actor, StoreConfig config, Opening opening) {
    for (int i = 0; i < ATTEMPTS; i++) {
      if (i == ATTEMPTS - 1) {
        // The failure has lasted too long to count as temporary.
        trial.endInjection();
      }
      LogDevice device = actor.call("new device", () -> setting.device(config));
      FasterStore store = device == null ? null : actor.call("open", () -> opening.open(device));
      if (store != null) {
        trial.watch(store);
        return store;
      }
      if (device != null) {
        actor.call(
            "close of the device",
            () -> {
              device.close();
              return true;
            });
      }
      requireNoLeak("an opening that failed");
    }
    return null;
  }

  private void close(Actor actor, FasterStore store) {
    actor.run("close", store::close);
    trial.watch(null);
    requireNoLeak("close");
  }

  /** A failed resize of the index keeps no memory beyond the next resize. */
  private void requireOneTable(Actor actor, FasterStore store) {
    Long bytes = actor.call("growIndex at the end", store.index()::grow);
    Long taken = actor.call("memoryUse", () -> store.statistics().memory().indexBytes());
    if (bytes != null && taken != null && !taken.equals(bytes)) {
      trial.fault("the index has more memory than its table: bytes=" + bytes + ", taken=" + taken);
    }
  }

  private void requireNoLeak(String after) {
    String left = leaks.find();
    if (!left.isEmpty()) {
      trial.fault("leaked after " + after + ": " + left);
    }
  }

  private void work(
      Actor actor, FasterStore store, int number, SplittableRandom dice, ExecutorService executor) {
    Hand hand = null;
    for (int i = 0; i < ATTEMPTS && hand == null; i++) {
      hand =
          actor.call(
              "new session",
              () ->
                  setting.session(
                      store,
                      name(number),
                      number == 0 ? SessionMode.BLOCKING : SessionMode.PENDING,
                      number == 2 ? executor : null));
    }
    if (hand == null) {
      return;
    }
    SessionWork work = new SessionWork(trial, actor, hand, number, dice, known());
    synchronized (this) {
      works.add(work);
    }
    work.fill(SessionWork.KEYS);
    work.work(OPERATIONS);
    work.settle();
    work.readAll();
    work.close();
  }

  /** The values of the keys that no session writes. */
  private Values known() {
    return restore == null ? new Values() : LazyRestore.values();
  }

  static String name(int session) {
    return "session " + session;
  }

  private void commit(Actor actor, FasterStore store) {
    actor.call("checkpoint of the index", () -> store.checkpoints().take(indexOnly));
    for (int i = 0; i < requests.size(); i++) {
      CheckpointRequest request = requests.get(i);
      List<SessionWork> seen = List.copyOf(works);
      long[] atLeast = new long[SESSIONS];
      seen.forEach(work -> atLeast[work.number()] = work.ended());
      CheckpointToken token =
          actor.call("checkpoint " + i, () -> store.checkpoints().take(request));
      if (token != null) {
        last = new Commit(token, atLeast);
      }
    }
  }

  private boolean random(int bit) {
    return (order.seed() >>> bit & 1) != 0;
  }

  private void keepHouse(Actor actor, FasterStore store) {
    actor.run("copyOrigin", store.integration()::copyOrigin);
    actor.run("cut", () -> store.log().cut().close());
    boolean hasGrown = actor.call("growIndex", store.index()::grow) != null;
    actor.run("scan", () -> scan(store));
    actor.run("compact", store.log()::compact);
    if (hasGrown) {
      actor.run("shrinkIndex", store.index()::shrink);
    }
    actor.run("compact", store.log()::compact);
  }

  private static void scan(FasterStore store) {
    try (LogScan scan = store.log().scan(Versions.LIVE)) {
      while (scan.next()) {
        scan.value();
      }
    }
  }

  private void recoverAll(Actor actor) {
    SimulatedDisk copy = disk.copy();
    if (last != null) {
      recover(actor, disk, last);
    }
    trial.endInjection();
    newest(actor, copy);
  }

  /** A complete checkpoint that was not reported is as valid as any other. */
  private void newest(Actor actor, SimulatedDisk copy) {
    StoreConfig config = setting.quiet(copy.directory());
    List<CheckpointInfo> complete =
        Checkpoints.of(config.directory()).list().stream()
            .filter(it -> it.kind() != CheckpointKind.INDEX_ONLY)
            .filter(it -> it.token().number() > restoredUntil)
            .toList();
    boolean isReported =
        complete.isEmpty() || (last != null && last.token.equals(complete.getLast().token()));
    if (!isReported) {
      recover(actor, copy, null);
    }
  }

  private void recover(Actor actor, SimulatedDisk from, Commit commit) {
    StoreConfig config = from == disk ? quiet : setting.quiet(from.directory());
    FasterStore store =
        open(
            actor,
            config,
            device ->
                commit == null
                    ? FasterStore.recover(
                        config, io.fasterkv.api.checkpoint.RecoveryRequest.newest(), device)
                    : FasterStore.recover(config, commit.token(), device));
    if (store == null) {
      trial.fault("not recovered");
      return;
    }
    trial.endInjection();
    RecoveredCheck check = new RecoveredCheck(setting, works, known());
    actor.run("check of what was recovered", () -> check.check(store, atLeast(commit)));
    trial.recovered();
    close(actor, store);
  }

  private static long[] atLeast(Commit commit) {
    return commit == null ? new long[SESSIONS] : commit.atLeast();
  }
}
