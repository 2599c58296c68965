package io.fasterkv.checkpoint;

import io.fasterkv.api.CheckpointKind;
import io.fasterkv.api.CheckpointRequest;
import io.fasterkv.api.CheckpointToken;
import io.fasterkv.api.Commit;
import io.fasterkv.api.CommitListener;
import io.fasterkv.api.StoreException;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.StoreException.DiskFull;
import io.fasterkv.device.NoSpaceException;
import io.fasterkv.epoch.Phase;
import io.fasterkv.epoch.SystemState;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.StackReserve;
import io.fasterkv.operation.Engine;
import io.fasterkv.operation.IndexResizer;
import java.io.IOException;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Takes checkpoints while sessions go on: drives the store from one version to the next (CPR,
 * section 6.2), has the version that is over written, and tells of the commit. One at a time, and
 * not beside a resize of the index. Waits for operations that are under way, never for a session.
 *
 * <p>A checkpoint that fails leaves the store in the next version, and usable: what would have been
 * committed is part of the next one that succeeds.
 */
public final class CheckpointDriver {
  private final Engine engine;
  private final KeptCheckpoints kept;
  private final CheckpointWriter writer;
  private final IndexResizer resizer;
  private final List<ShiftTask> steps;
  private final List<CommitListener> listeners = new CopyOnWriteArrayList<>();

  public CheckpointDriver(Engine engine, KeptCheckpoints kept, CheckpointWriter writer) {
    this.engine = engine;
    this.kept = kept;
    this.writer = writer;
    resizer = new IndexResizer(engine);
    steps = ShiftTasks.ALL;
  }

  /** Takes the checkpoints of {@code other}, by steps of the caller's. */
  CheckpointDriver(CheckpointDriver other, List<ShiftTask> steps) {
    engine = other.engine;
    kept = other.kept;
    writer = other.writer;
    resizer = other.resizer;
    this.steps = steps;
  }

  /** Tells {@code listener} of all commits from now on, until what is returned is closed. */
  public CommitListener.Registration listen(CommitListener listener) {
    listeners.add(listener);
    return () -> listeners.remove(listener);
  }

  /**
   * Takes a checkpoint; returns when it is durable. The caller is not protected.
   *
   * @throws DiskFull if the disk has no space for it
   */
  public CheckpointToken take(CheckpointRequest request) {
    StackReserve.require();
    engine.log().throwIfFailed();
    if (request.kind() != CheckpointKind.INDEX_ONLY) {
      awaitWhole();
    }
    engine.index().sizeLock().lock();
    try {
      resizer.finish();
      return request.kind() == CheckpointKind.INDEX_ONLY
          ? takeIndex(request)
          : takeVersion(request);
    } catch (IOException e) {
      throw failed(e);
    } finally {
      engine.index().sizeLock().unlock();
    }
  }

  /**
   * Ends a version, and gives it away instead of writing it: what this does is the version shift,
   * and nobody waits for the disk. The version stays pinned until what is returned is closed. The
   * caller is not protected.
   */
  public VersionExport export() {
    StackReserve.require();
    engine.log().throwIfFailed();
    engine.index().sizeLock().lock();
    try {
      resizer.finish();
      long version = SystemState.version(engine.versions().state().word());
      ShiftRun run = new ShiftRun(engine, CheckpointKind.FOLD_OVER, version);
      try {
        shift(run);
        return writer.export(run.cut(), run.handOverPin());
      } finally {
        rest(run);
      }
    } finally {
      engine.index().sizeLock().unlock();
    }
  }

  /** What the directory has is all that a recovery has; nobody else waits while this does. */
  private void awaitWhole() {
    try {
      engine.log().device().awaitWhole();
    } catch (IOException e) {
      throw failed(e);
    }
  }

  private static StoreException failed(IOException cause) {
    String message = "a checkpoint could not be written: " + cause.getMessage();
    return NoSpaceException.isNamed(cause)
        ? new DiskFull(message + "; free space there and take another", cause)
        : new DeviceFailed(message, cause);
  }

  /** The index as of a moment of the version that goes on. */
  private CheckpointToken takeIndex(CheckpointRequest request) throws IOException {
    HybridLog log = engine.log();
    long begin = log.holds().pin();
    try {
      long end = Math.max(begin, log.tailAddress());
      // What has been allocated below is in its chain after this, or never will be.
      log.regions().fillNothingBelow(end);
      engine.awaitEarlierOperations();
      long version = SystemState.version(engine.versions().state().word());
      return writer.write(
          kept.nextNumber(), request, new VersionCut(version, begin, end, end, new TreeMap<>()));
    } finally {
      log.holds().unpin(begin);
    }
  }

  private CheckpointToken takeVersion(CheckpointRequest request) throws IOException {
    long version = SystemState.version(engine.versions().state().word());
    ShiftRun run = new ShiftRun(engine, request.kind(), version);
    VersionCut cut;
    CheckpointToken token;
    try {
      shift(run);
      cut = run.cut();
      token = writer.write(kept.nextNumber(), request, cut);
    } finally {
      rest(run);
    }
    tell(new Commit(token, version, cut.points()));
    return token;
  }

  /**
   * Goes through all phases, also when something fails on the way, be it an error of a user's
   * function: operations that are in one of them rely on the next.
   */
  private void shift(ShiftRun run) {
    @Nullable Throwable failure = null;
    for (ShiftTask task : steps) {
      try {
        step(task, run);
      } catch (RuntimeException | Error e) {
        failure = failure == null ? e : failure;
      }
    }
    switch (failure) {
      case null -> {}
      case Error e -> throw e;
      case RuntimeException e -> throw e;
      default -> throw new AssertionError(failure);
    }
  }

  private void step(ShiftTask task, ShiftRun run) {
    try {
      try {
        task.before(run);
      } finally {
        enter(task.phase(), run);
      }
    } catch (Throwable e) {
      // From here on, attempts of this phase and of earlier ones may run at the same time. Their
      // changes must not become durable.
      engine.log().fail(e);
      throw e;
    }
    task.after(run);
  }

  /** Begins a phase; returns when no attempt is in an earlier one. */
  private void enter(Phase phase, ShiftRun run) {
    boolean isNext = phase != Phase.PREPARE;
    engine.versions().state().set(phase, run.version() + (isNext ? 1 : 0));
    engine.awaitEarlierOperations();
  }

  private void rest(ShiftRun run) {
    try (run) {
      engine.versions().releasePending(run.version());
    } catch (Error e) {
      // Records may stay frozen, or updates pending, and nothing will release them.
      engine.log().fail(e);
      throw e;
    } finally {
      engine.versions().state().set(Phase.REST, run.version() + 1);
      engine.index().quiet();
    }
  }

  private void tell(Commit commit) {
    for (CommitListener listener : listeners) {
      listener.committed(commit);
    }
  }
}
