package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.TestSettings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SharedStateRegistry;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.SnapshotResult;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests backends with a model of Flink's JobManager and a plain map: checkpoints of all kinds that
 * overlap, are confirmed late or never, fail and are aborted; failures and restores at the same and
 * at another parallelism. Shared files are deleted as soon as Flink's own registry deletes them,
 * and a later read or deletion of such a file fails the test.
 */
@Tag("seeds")
class IncrementalModelTest {
  private static final int KEYS = 300;
  private static final int STEPS = 60;

  @TempDir Path directory;

  @Tag("slow")
  @ParameterizedTest
  @EnumSource(names = {"ROOMY_INCREMENTAL", "TINY_INCREMENTAL"})
  void aCheckpointIsRestoredWhateverHappensToOthers(TestSettings settings) throws Throwable {
    Seeds.run(
        4,
        random -> {
          try (TestBackends backends = new TestBackends(settings, directory)) {
            new Job(backends, random).run();
          }
        });
  }

  /** The parts of a checkpoint that is pending or complete. */
  private static final class Checkpoint {
    final long id;
    final boolean isSavepoint;
    final ModelStates model;
    final List<RunnableFuture<SnapshotResult<KeyedStateHandle>>> futures = new ArrayList<>();
    final List<KeyedStateHandle> handles = new ArrayList<>();

    Checkpoint(long id, boolean isSavepoint, ModelStates model) {
      this.id = id;
      this.isSavepoint = isSavepoint;
      this.model = model;
    }
  }

  private static final class Job {
    private final TestBackends backends;
    private final SplittableRandom random;
    private final SharedFiles files = new SharedFiles();
    private SharedStateRegistry registry = new SharedStateRegistryImpl(Runnable::run);
    private List<FasterKeyedStateBackend<Integer>> subtasks = new ArrayList<>();
    private ModelStates model = new ModelStates();
    private final TreeMap<Long, Checkpoint> pending = new TreeMap<>();
    private final List<Long> unreported = new ArrayList<>();
    private Checkpoint complete;

    /** A checkpoint that was restored without a claim, or null. */
    private Checkpoint theirs;

    /** The registry may still contain files of aborted checkpoints up to this one. */
    private long leftoversUntil;

    private boolean mustBeFull;
    private long nextId = 1;

    Job(TestBackends backends, SplittableRandom random) {
      this.backends = backends;
      this.random = random;
    }

    void run() throws Exception {
      open(1 + random.nextInt(3), List.of());
      for (int step = 0; step < STEPS; step++) {
        change();
        switch (random.nextInt(12)) {
          case 0, 1, 2, 3 -> start();
          case 4, 5, 6, 7 -> finishOne();
          case 8 -> abortOne();
          case 9 -> tellOne();
          case 10 -> compact();
          default -> {
            if (random.nextInt(3) == 0) {
              fail();
            }
          }
        }
      }
      fail();
      checkFiles();
      if (theirs != null) {
        theirs.model.check(backends.open(range(0, 1), theirs.handles), KEYS);
      }
      for (FasterKeyedStateBackend<Integer> subtask : subtasks) {
        model.check(subtask, KEYS);
        assertThat(subtask.numKeyValueStateEntries()).isEqualTo(model.count(subtask));
      }
    }

    private void open(int parallelism, Collection<KeyedStateHandle> handles) throws Exception {
      subtasks = new ArrayList<>();
      for (int i = 0; i < parallelism; i++) {
        subtasks.add(backends.open(range(i, parallelism), handles));
      }
    }

    private static KeyGroupRange range(int subtask, int parallelism) {
      int start = (subtask * TestBackends.KEY_GROUPS + parallelism - 1) / parallelism;
      int next = ((subtask + 1) * TestBackends.KEY_GROUPS + parallelism - 1) / parallelism;
      return KeyGroupRange.of(start, next - 1);
    }

    private void change() throws Exception {
      for (FasterKeyedStateBackend<Integer> subtask : subtasks) {
        model.change(subtask, random, KEYS, random.nextInt(random.nextInt(10) == 0 ? 5_000 : 300));
      }
    }

    private void compact() {
      subtasks.get(random.nextInt(subtasks.size())).store().log().compact();
    }

    private void start() throws Exception {
      boolean isSavepoint = random.nextInt(6) == 0;
      SnapshotType type =
          isSavepoint
              ? SavepointType.savepoint(SavepointFormatType.NATIVE)
              : mustBeFull ? CheckpointType.FULL_CHECKPOINT : CheckpointType.CHECKPOINT;
      Checkpoint checkpoint = new Checkpoint(nextId++, isSavepoint, new ModelStates(model));
      for (FasterKeyedStateBackend<Integer> subtask : subtasks) {
        checkpoint.futures.add(
            subtask.snapshot(
                checkpoint.id,
                1,
                files,
                new CheckpointOptions(type, CheckpointStorageLocationReference.getDefault())));
      }
      pending.put(checkpoint.id, checkpoint);
    }

    /** Subtasks acknowledge one by one; the checkpoint completes with the last one, or fails. */
    private void finishOne() throws Exception {
      Checkpoint checkpoint = anyPending();
      if (checkpoint == null) {
        return;
      }
      if (random.nextInt(8) == 0) {
        files.failAfter(random.nextInt(3));
      }
      for (var future : checkpoint.futures) {
        future.run();
        try {
          KeyedStateHandle handle = future.get().getJobManagerOwnedSnapshot();
          if (!checkpoint.isSavepoint) {
            handle.registerSharedStates(registry, checkpoint.id);
          }
          checkpoint.handles.add(handle);
        } catch (Exception failure) {
          assertThat(failure).hasRootCauseMessage("no space left");
          abort(checkpoint);
          return;
        }
      }
      files.failAfter(Integer.MAX_VALUE / 2);
      pending.remove(checkpoint.id);
      if (checkpoint.isSavepoint) {
        checkSavepoint(checkpoint);
        return;
      }
      registry.checkpointCompleted(checkpoint.id);
      mustBeFull = false;
      Checkpoint subsumed = complete;
      complete = checkpoint;
      if (subsumed != null && subsumed != theirs) {
        discard(subsumed);
      }
      for (Checkpoint older : List.copyOf(pending.headMap(checkpoint.id).values())) {
        abort(older);
      }
      registry.unregisterUnusedState(checkpoint.id);
      unreported.add(checkpoint.id);
      if (random.nextInt(3) != 0) {
        tellOne();
      }
    }

    private void checkSavepoint(Checkpoint savepoint) throws Exception {
      if (random.nextInt(3) == 0) {
        FasterKeyedStateBackend<Integer> other = backends.open(range(0, 2), savepoint.handles);
        savepoint.model.check(other, KEYS);
        other.dispose();
      }
      discard(savepoint);
    }

    private void abortOne() throws Exception {
      Checkpoint checkpoint = anyPending();
      if (checkpoint != null) {
        abort(checkpoint);
      }
    }

    /** Notifies the subtasks or not. Files that they still write are discarded. */
    private void abort(Checkpoint checkpoint) throws Exception {
      pending.remove(checkpoint.id);
      if (!checkpoint.isSavepoint && !checkpoint.handles.isEmpty()) {
        leftoversUntil = Math.max(leftoversUntil, checkpoint.id);
      }
      boolean isTold = random.nextBoolean();
      for (int i = 0; i < checkpoint.futures.size(); i++) {
        if (isTold) {
          subtasks.get(i).notifyCheckpointAborted(checkpoint.id);
        }
        var future = checkpoint.futures.get(i);
        if (!future.isDone() && random.nextInt(3) == 0) {
          future.run();
          future.get().discardState();
        }
        future.cancel(true);
      }
      discard(checkpoint);
    }

    private static void discard(Checkpoint checkpoint) throws Exception {
      for (KeyedStateHandle handle : checkpoint.handles) {
        handle.discardState();
      }
    }

    private Checkpoint anyPending() {
      return pending.isEmpty()
          ? null
          : List.copyOf(pending.values()).get(random.nextInt(pending.size()));
    }

    private void tellOne() throws Exception {
      if (!unreported.isEmpty()) {
        long id = unreported.remove(random.nextInt(unreported.size()));
        for (FasterKeyedStateBackend<Integer> subtask : subtasks) {
          subtask.notifyCheckpointComplete(id);
        }
      }
    }

    /** All subtasks fail; the job is restored, or restarted from the checkpoint. */
    private void fail() throws Exception {
      for (Checkpoint checkpoint : List.copyOf(pending.values())) {
        abort(checkpoint);
      }
      for (FasterKeyedStateBackend<Integer> subtask : subtasks) {
        if (random.nextInt(4) == 0) {
          model.check(subtask, KEYS);
          assertThat(subtask.numKeyValueStateEntries()).isEqualTo(model.count(subtask));
        }
        subtask.dispose();
      }
      unreported.clear();
      int parallelism = random.nextBoolean() ? Math.max(1, subtasks.size()) : 1 + random.nextInt(4);
      if (complete == null) {
        model = new ModelStates();
        open(parallelism, List.of());
        return;
      }
      model = new ModelStates(complete.model);
      // A registry that is lost forgets the files that it would have deleted.
      if (random.nextInt(3) == 0 && leftoversUntil < complete.id) {
        registerAnew(random.nextBoolean());
      }
      open(parallelism, complete.handles);
    }

    /** Starts a new JobManager. Without a claim, the checkpoint still belongs to another owner. */
    private void registerAnew(boolean isClaimed) {
      registry = new SharedStateRegistryImpl(Runnable::run);
      if (isClaimed && theirs != complete) {
        registry.registerAll(complete.handles, complete.id);
      } else if (theirs == null || theirs == complete) {
        // Flink's registry knows the checkpoint's files and never deletes them; this one rejects
        // their names.
        mustBeFull = true;
        theirs = complete;
      } else {
        registry.registerAll(complete.handles, complete.id);
      }
    }

    /** Checks that no file is missing and that all files are needed. */
    private void checkFiles() throws Exception {
      while (complete == null || !pending.isEmpty() || complete.id != nextId - 1) {
        for (Checkpoint checkpoint : List.copyOf(pending.values())) {
          abort(checkpoint);
        }
        start();
        finishOne();
      }
      Set<String> needed = new HashSet<>();
      for (Checkpoint checkpoint : theirs == null ? List.of(complete) : List.of(complete, theirs)) {
        for (KeyedStateHandle handle : checkpoint.handles) {
          ((IncrementalRemoteKeyedStateHandle) handle)
              .streamSubHandles()
              .forEach(file -> needed.add(file.getStreamStateHandleID().getKeyString()));
        }
      }
      assertThat(files.names()).isEqualTo(needed);
    }
  }
}
