package io.fasterkv.checkpoint.shift;

import io.fasterkv.api.StoreException;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.StoreException.DiskFull;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.checkpoint.Commit;
import io.fasterkv.api.checkpoint.CommitListener;
import io.fasterkv.checkpoint.export.VersionExport;
import io.fasterkv.checkpoint.manifest.VersionCut;
import io.fasterkv.checkpoint.write.CheckpointWriter;
import io.fasterkv.checkpoint.write.KeptCheckpoints;
import io.fasterkv.device.NoSpaceException;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.resize.IndexResizer;
import io.fasterkv.state.Phase;
import io.fasterkv.state.SystemState;
import java.io.IOException;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Takes checkpoints while sessions continue: it moves the store from one version to the next (CPR,
 * section 6.2), has the finished version written, and reports the commit. One checkpoint at a time,
 * and none during a resize of the index. It waits for operations in progress, never for a session.
 *
 * <p>A checkpoint that fails leaves the store usable in the next version; the next successful
 * checkpoint includes what this one would have committed.
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

  /** Takes the checkpoints of {@code other} with the caller's steps. */
  public CheckpointDriver(CheckpointDriver other, List<ShiftTask> steps) {
    engine = other.engine;
    kept = other.kept;
    writer = other.writer;
    resizer = other.resizer;
    this.steps = steps;
  }

  /** Reports all commits from now on to {@code listener}, until the result is closed. */
  public CommitListener.Registration listen(CommitListener listener) {
    listeners.add(listener);
    return () -> listeners.remove(listener);
  }

  /**
   * Takes a checkpoint and returns when it is durable. The caller must not be protected.
   *
   * @throws DiskFull if the disk has no space for it
   */
  public CheckpointToken take(CheckpointRequest request) {
    engine.log().failure().throwIfSet();
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
   * Ends a version and returns it instead of writing it: this only does the version shift and does
   * not wait for the disk. The version stays pinned until the result is closed. The caller must not
   * be protected.
   */
  public VersionExport export() {
    engine.log().failure().throwIfSet();
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

  /**
   * Waits until the whole log is local, since a recovery finds only what the directory has; other
   * threads do not wait meanwhile.
   */
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

  /** Writes the index as of now; the version continues. */
  private CheckpointToken takeIndex(CheckpointRequest request) throws IOException {
    HybridLog log = engine.log();
    long begin = log.pins().pin();
    try {
      long end = Math.max(begin, log.tailAddress());
      // After this, every record allocated below is in its chain or never will be.
      log.regions().fillNothingBelow(end);
      engine.awaitEarlierOperations();
      long version = SystemState.version(engine.versions().state().word());
      return writer.write(
          kept.nextNumber(), request, new VersionCut(version, begin, end, end, new TreeMap<>()));
    } finally {
      log.pins().unpin(begin);
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
    notifyListeners(new Commit(token, version, cut.points()));
    return token;
  }

  /**
   * Goes through all phases even if a step fails, for example with an error of a user's function:
   * operations in one phase rely on the next.
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
      // From here on, attempts of this phase and of earlier ones may run concurrently. Their
      // changes must not become durable.
      engine.log().failure().accept(e);
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
      engine.log().failure().accept(e);
      throw e;
    } finally {
      engine.versions().state().set(Phase.REST, run.version() + 1);
      engine.index().showQuietTable();
    }
  }

  private void notifyListeners(Commit commit) {
    for (CommitListener listener : listeners) {
      listener.committed(commit);
    }
  }
}
