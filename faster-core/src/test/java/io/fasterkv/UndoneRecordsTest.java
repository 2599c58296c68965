package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.Versions;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.state.Phase;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests records of the next version that are stored among those of the version that a checkpoint
 * commits. In a store recovered from the checkpoint they do not exist, for any read, scan or dump,
 * whatever happens to the log later, and in all later lives.
 */
class UndoneRecordsTest {
  private static final int KEYS = 400;

  /** Added to values of the version that is not committed. */
  private static final long UNDONE = 1_000_000;

  @TempDir Path directory;

  private final AtomicReference<CheckpointToken> token = new AtomicReference<>();

  static List<Arguments> requests() {
    List<Arguments> all = new ArrayList<>();
    for (CheckpointRequest request : CheckpointRequests.withLog()) {
      all.add(Arguments.of(request, true));
      all.add(Arguments.of(request, false));
    }
    return all;
  }

  @ParameterizedTest
  @MethodSource("requests")
  void areNotThereInAnyLaterLife(CheckpointRequest request, boolean usesIndex) {
    try (FasterStore store = FasterStore.open(config())) {
      put(store, 0, KEYS, 0);
      // A log-only checkpoint builds on this one.
      store.checkpoints().take();
      put(store, 0, KEYS / 2, 1);
      takeBesideTheNextVersion(store, request);
    }
    checkDump(token.get());
    RecoveryRequest again = RecoveryRequest.of(token.get());
    try (FasterStore store =
        FasterStore.recover(config(), usesIndex ? again : again.withoutIndex())) {
      checkAll(store);
      // The replay in the next life covers the undone records.
      delete(store, 3);
      put(store, 3, 4, 0);
      put(store, 3, 4, 1);
      token.set(store.checkpoints().take(CheckpointRequest.logOnly(CheckpointKind.FOLD_OVER)));
    }
    checkDump(token.get());
    try (FasterStore store = FasterStore.recover(config(), RecoveryRequest.newest())) {
      checkAll(store);
      store.log().compact();
      checkAll(store);
      token.set(store.checkpoints().take());
    }
    checkDump(token.get());
    try (FasterStore store =
        FasterStore.recover(config(), RecoveryRequest.newest().withoutIndex())) {
      checkAll(store);
    }
  }

  /** Overwrites, deletes and creates keys in each phase after the next version has begun. */
  private void takeBesideTheNextVersion(FasterStore store, CheckpointRequest request) {
    try (LongSession<Void> session = session(store);
        PhaseStepper stepper =
            new PhaseStepper(store, () -> token.set(store.checkpoints().take(request)))) {
      stepper.goTo(Phase.IN_PROGRESS);
      for (int key = 0; key < KEYS; key += 2) {
        session.upsert(key, UNDONE, null);
      }
      stepper.goTo(Phase.WAIT_PENDING);
      for (int key = 0; key < KEYS; key += 3) {
        session.delete(key, null);
      }
      for (int key = KEYS; key < 2 * KEYS; key++) {
        session.upsert(key, UNDONE, null);
      }
      stepper.goTo(Phase.WAIT_FLUSH);
      for (int key = 0; key < KEYS; key += 5) {
        session.upsert(key, UNDONE, null);
      }
      stepper.finish();
    }
    var log = Checkpoints.of(directory).describe(token.get()).log();
    assertThat(log.end() - log.start()).as("both versions are present").isGreaterThan(KEYS * 24L);
  }

  private static void put(FasterStore store, int from, int until, long more) {
    try (LongSession<Void> session = session(store)) {
      for (int key = from; key < until; key++) {
        session.upsert(key, key + more, null);
      }
    }
  }

  private static void delete(FasterStore store, int key) {
    try (LongSession<Void> session = session(store)) {
      session.delete(key, null);
    }
  }

  private static long expected(long key) {
    return key < KEYS / 2 ? key + 1 : key;
  }

  private static void checkAll(FasterStore store) {
    try (LongSession<Void> session = session(store)) {
      for (int key = 0; key < KEYS; key++) {
        assertThat(session.read(key, null)).as("key " + key).isEqualTo(Status.FOUND);
        assertThat(session.value()).as("key " + key).isEqualTo(expected(key));
      }
      for (int key = KEYS; key < 2 * KEYS; key++) {
        assertThat(session.read(key, null)).as("key " + key).isEqualTo(Status.NOT_FOUND);
      }
    }
    try (LogScan scan = store.log().scan(Versions.ALL)) {
      while (scan.next()) {
        assertThat(number(scan.key())).isLessThan(KEYS);
        assertThat(number(scan.value())).isLessThan(UNDONE);
      }
    }
    StoreInvariants.check(store);
  }

  private void checkDump(CheckpointToken of) {
    List<Long> keys = new ArrayList<>();
    Checkpoints.of(directory)
        .dump(
            of,
            record -> {
              keys.add(number(record.key()));
              assertThat(number(record.value())).isEqualTo(expected(number(record.key())));
            });
    assertThat(keys).hasSize(KEYS).doesNotHaveDuplicates();
  }

  private static long number(ByteSpan bytes) {
    return ByteBuffer.wrap(bytes.toArray()).order(ByteOrder.nativeOrder()).getLong();
  }

  private static LongSession<Void> session(FasterStore store) {
    return store.newSession().longs(LongFunctions.sum());
  }

  private StoreConfig config() {
    return StoreConfig.builder(directory)
        .memoryBytes(1 << 20)
        .recordKind(RecordKind.LONGS)
        .pageBytes(4096)
        .logMemoryBytes(65536)
        .indexBytes(1 << 16)
        .segmentBytes(32768)
        .scratchBytes(64 << 10)
        .build();
  }
}
