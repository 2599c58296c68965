package io.fasterkv.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.Insides;
import io.fasterkv.Session;
import io.fasterkv.StoreInvariants;
import io.fasterkv.api.Status;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.VersionShift;
import io.fasterkv.checkpoint.shift.CheckpointDriver;
import io.fasterkv.checkpoint.shift.ShiftRun;
import io.fasterkv.checkpoint.shift.ShiftTask;
import io.fasterkv.checkpoint.shift.ShiftTasks;
import io.fasterkv.compaction.Compactor;
import io.fasterkv.cpr.StampedSession;
import io.fasterkv.cpr.SumFunctions;
import io.fasterkv.cpr.SumFunctions.Found;
import io.fasterkv.cpr.SumFunctions.Result;
import io.fasterkv.state.Phase;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests compaction concurrent with a version shift. Compaction drops records that the next version
 * has deleted; the checkpoint, of the version before, still has them.
 */
class CompactionInShiftTest {
  private static final int PAGE_BYTES = 4096;
  private static final long OTHERS = 1000;
  private static final long OTHERS_END = 2000;

  @TempDir Path directory;

  /** Compaction finds that a record is dead by reading the log above it. */
  @ParameterizedTest
  @EnumSource(VersionShift.class)
  void aRecordIsInTheCheckpoint(VersionShift shift) {
    SumFunctions functions = new SumFunctions(64);
    check(shift, functions, LongStream.range(0, 200).toArray(), 1, Double.POSITIVE_INFINITY);
  }

  /** Compaction finds that a value in pieces is dead by following its chain. */
  @ParameterizedTest
  @EnumSource(VersionShift.class)
  void aLargeValueIsInTheCheckpoint(VersionShift shift) {
    SumFunctions functions = new SumFunctions(10 * PAGE_BYTES);
    long stamp = 1;
    while (functions.value(0, stamp).length() < 3 * PAGE_BYTES) {
      stamp++;
    }
    check(shift, functions, new long[] {0}, stamp, 0);
  }

  /** All records on the log's first page belong to these keys. */
  private void check(
      VersionShift shift, SumFunctions functions, long[] keys, long stamp, double chainWeight) {
    StoreConfig config = config(shift);
    CheckpointToken token;
    try (FasterStore store = FasterStore.open(config);
        Session<Long, Result, Found> session = session(store, functions)) {
      for (long key : keys) {
        session.upsert(StampedSession.Spans.key(key), functions.value(key, stamp), null);
      }
      fill(session, functions);
      Compactor compactor = Insides.compactor(store);
      compactor.weighChains(chainWeight);
      Runnable inNextVersion =
          () -> {
            for (long key : keys) {
              session.delete(StampedSession.Spans.key(key), null);
            }
            fill(session, functions);
            assertThat(compactor.compact(PAGE_BYTES)).isPositive();
          };
      CheckpointDriver driver =
          new CheckpointDriver(Insides.driver(store), beforeWaitFlush(inNextVersion));
      token = driver.take(CheckpointRequest.full(CheckpointKind.FOLD_OVER));
    }
    try (FasterStore store = FasterStore.recover(config, token);
        Session<Long, Result, Found> session = session(store, functions)) {
      StoreInvariants.check(store);
      for (long key : keys) {
        Result result = new Result();
        assertThat(session.read(StampedSession.Spans.key(key), null, result, null))
            .as("key=%s", key)
            .isEqualTo(Status.FOUND);
        assertThat(result.sum).isEqualTo(stamp);
      }
    }
  }

  private StoreConfig config(VersionShift shift) {
    return StoreConfig.builder(directory)
        .memoryBytes(4 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes(8 * PAGE_BYTES)
        .indexBytes(8192)
        .versionShift(shift)
        .build();
  }

  private static Session<Long, Result, Found> session(FasterStore store, SumFunctions functions) {
    return store.newSession().spans(functions);
  }

  /** Writes other keys until all earlier records are evicted. */
  private static void fill(Session<Long, Result, Found> session, SumFunctions functions) {
    for (long key = OTHERS; key < OTHERS_END; key++) {
      session.upsert(StampedSession.Spans.key(key), functions.value(key, key), null);
    }
  }

  /** A version shift with an action after the next version has begun. */
  private static List<ShiftTask> beforeWaitFlush(Runnable extra) {
    List<ShiftTask> steps = new ArrayList<>(ShiftTasks.ALL);
    steps.replaceAll(step -> step.phase() == Phase.WAIT_FLUSH ? begun(step, extra) : step);
    return steps;
  }

  private static ShiftTask begun(ShiftTask step, Runnable extra) {
    return new ShiftTask() {
      @Override
      public Phase phase() {
        return step.phase();
      }

      @Override
      public void before(ShiftRun run) {
        extra.run();
        step.before(run);
      }

      @Override
      public void after(ShiftRun run) {
        step.after(run);
      }
    };
  }
}
