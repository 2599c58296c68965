package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.checkpoint.CheckpointInfo;
import io.fasterkv.api.checkpoint.CheckpointInfo.FileInfo;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.checkpoint.RecoveryProgress;
import io.fasterkv.api.checkpoint.RecoveryProgress.Phase;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Tests the parts of each kind of checkpoint, what it keeps, and its recovery. */
class CheckpointKindsTest {
  private static final int KEYS = 3000;

  @TempDir Path directory;

  private FasterStore store;

  private void open(long indexBytes) {
    store = FasterStore.open(config(indexBytes));
  }

  private void recover(RecoveryRequest request) {
    store = FasterStore.recover(config(1 << 18), request);
  }

  /** Sets each key from {@code from} up to {@code until} to its own number plus {@code more}. */
  private void put(int from, int until, long more) {
    try (LongSession<Void> session = session()) {
      for (int key = from; key < until; key++) {
        session.upsert(key, key + more, null);
      }
    }
  }

  private void assertHolds(int from, int until, long more) {
    try (LongSession<Void> session = session()) {
      for (int key = from; key < until; key++) {
        assertThat(session.read(key, null)).isEqualTo(Status.FOUND);
        assertThat(session.value()).isEqualTo(key + more);
      }
    }
  }

  private LongSession<Void> session() {
    return store.newSession().longs(LongFunctions.sum());
  }

  private CheckpointToken take(CheckpointKind kind, boolean withIndex) {
    return store.checkpoints().take(new CheckpointRequest(kind, withIndex));
  }

  private CheckpointInfo describe(CheckpointToken token) {
    return Checkpoints.of(directory).describe(token);
  }

  @Test
  void aLogBuildsOnTheNewestImage() {
    open(1 << 18);
    put(0, KEYS, 0);
    CheckpointToken first = take(CheckpointKind.FOLD_OVER, false);
    assertThat(describe(first).index().imageOf()).as("there is no earlier image").isEqualTo(1);
    put(0, 10, 5);
    assertThat(describe(take(CheckpointKind.FOLD_OVER, false)).index().imageOf()).isEqualTo(1);
    CheckpointToken index = store.checkpoints().take(CheckpointRequest.indexOnly());
    put(10, 20, 5);
    CheckpointToken last = take(CheckpointKind.SNAPSHOT, false);
    assertThat(describe(last).index().imageOf()).isEqualTo(index.number());
    store.close();
    recover(RecoveryRequest.newest());
    assertHolds(0, 20, 5);
    assertHolds(20, KEYS, 0);
    StoreInvariants.check(store);
    put(20, 30, 5);
    CheckpointToken after = take(CheckpointKind.FOLD_OVER, false);
    assertThat(describe(after).index().imageOf()).as("the earlier image").isEqualTo(index.number());
    store.close();
    recover(RecoveryRequest.newest());
    assertHolds(0, 30, 5);
    store.close();
  }

  @Test
  void aLogHasItsOwnImageWhenTheIndexWasResized() {
    open(1 << 16);
    put(0, KEYS, 0);
    store.checkpoints().take();
    store.index().grow();
    CheckpointToken grown = take(CheckpointKind.FOLD_OVER, false);
    assertThat(describe(grown).index().imageOf()).isEqualTo(grown.number());
    store.index().grow();
    store.index().shrink();
    put(0, KEYS, 1);
    CheckpointToken again = take(CheckpointKind.FOLD_OVER, false);
    assertThat(describe(again).index().imageOf()).as("its own image").isEqualTo(again.number());
    store.close();
    recover(RecoveryRequest.newest());
    assertHolds(0, KEYS, 1);
    store.close();
  }

  @Test
  void aLogHasItsOwnImageWhenTheIndexIsSharing() {
    open(256);
    put(0, KEYS, 0);
    store.checkpoints().take();
    CheckpointToken second = take(CheckpointKind.FOLD_OVER, false);
    assertThat(describe(second).index().imageOf()).isEqualTo(second.number());
    store.close();
    recover(RecoveryRequest.newest().withoutIndex());
    assertHolds(0, KEYS, 0);
    StoreInvariants.check(store);
    CheckpointToken third = take(CheckpointKind.FOLD_OVER, false);
    assertThat(describe(third).index().imageOf()).isEqualTo(third.number());
    store.close();
  }

  @Test
  void anImageStaysAsLongAsALogBuildsOnIt() throws IOException {
    open(1 << 18);
    put(0, KEYS, 0);
    CheckpointToken full = store.checkpoints().take();
    put(0, 10, 5);
    CheckpointToken second = take(CheckpointKind.FOLD_OVER, false);
    store.checkpoints().remove(full);
    assertThat(store.checkpoints().list()).containsExactly(second);
    assertThat(names()).contains("checkpoint-1.index").doesNotContain("checkpoint-1.manifest");
    put(10, 20, 5);
    CheckpointToken third = take(CheckpointKind.FOLD_OVER, false);
    store.checkpoints().remove(second);
    store.close();
    recover(RecoveryRequest.newest());
    assertHolds(0, 20, 5);
    assertHolds(20, KEYS, 0);
    CheckpointToken fourth = store.checkpoints().take();
    store.checkpoints().remove(third);
    assertThat(names()).doesNotContain("checkpoint-1.index");
    assertThat(store.checkpoints().list()).containsExactly(fourth);
    store.close();
  }

  @Test
  void anIncrementalSnapshotWritesWhatHasChanged() throws IOException {
    open(1 << 18);
    put(0, KEYS, 0);
    CheckpointToken whole = take(CheckpointKind.SNAPSHOT, true);
    put(KEYS - 10, KEYS, 5);
    CheckpointToken part = take(CheckpointKind.INCREMENTAL_SNAPSHOT, false);
    long wholeBytes = Files.size(directory.resolve("checkpoint-1.snapshot"));
    long partBytes = Files.size(directory.resolve("checkpoint-2.snapshot"));
    assertThat(partBytes).isPositive().isLessThan(wholeBytes / 2);
    CheckpointToken nothing = take(CheckpointKind.INCREMENTAL_SNAPSHOT, false);
    assertThat(Files.size(directory.resolve("checkpoint-3.snapshot"))).isLessThan(partBytes);
    store.checkpoints().remove(whole);
    store.checkpoints().remove(part);
    assertThat(names()).contains("checkpoint-1.snapshot", "checkpoint-2.snapshot");
    assertThat(describe(nothing).files())
        .extracting(FileInfo::name)
        .contains("checkpoint-1.snapshot", "checkpoint-2.snapshot");
    Checkpoints.of(directory).verify(nothing);
    store.close();
    recover(RecoveryRequest.newest());
    assertHolds(0, KEYS - 10, 0);
    assertHolds(KEYS - 10, KEYS, 5);
    store.close();
  }

  @Test
  void aChainOfSnapshotsRestarts() throws IOException {
    open(1 << 18);
    put(0, KEYS, 0);
    long mostFiles = 0;
    for (int i = 0; i < 30; i++) {
      put(i, i + 1, 7);
      CheckpointToken token = take(CheckpointKind.INCREMENTAL_SNAPSHOT, false);
      mostFiles =
          Math.max(
              mostFiles,
              describe(token).files().stream()
                  .filter(file -> file.name().endsWith(".snapshot"))
                  .count());
      store.checkpoints().list().stream()
          .filter(older -> older.number() < token.number())
          .forEach(store.checkpoints()::remove);
    }
    assertThat(mostFiles).isBetween(2L, 9L);
    assertThat(names().stream().filter(name -> name.endsWith(".snapshot")).count())
        .as("unneeded snapshots are removed")
        .isLessThanOrEqualTo(9);
    store.close();
    recover(RecoveryRequest.newest());
    assertHolds(0, 30, 7);
    assertHolds(30, KEYS, 0);
    store.close();
  }

  @Test
  void aSnapshotIsRecoveredAfterALaterCheckpoint() {
    open(1 << 18);
    put(0, KEYS, 0);
    CheckpointToken snapshot = take(CheckpointKind.SNAPSHOT, true);
    put(0, KEYS, 5);
    store.checkpoints().take();
    put(0, KEYS, 6);
    store.checkpoints().take();
    store.close();
    recover(RecoveryRequest.of(snapshot));
    assertHolds(0, KEYS, 0);
    assertThat(store.checkpoints().list()).containsExactly(snapshot);
    put(0, KEYS, 8);
    store.checkpoints().take();
    store.close();
    recover(RecoveryRequest.of(snapshot));
    assertHolds(0, KEYS, 0);
    store.close();
  }

  @Test
  void anIndexAloneIsNotRecoveredFrom() {
    open(1 << 18);
    put(0, KEYS, 0);
    CheckpointToken full = store.checkpoints().take();
    CheckpointToken index = store.checkpoints().take(CheckpointRequest.indexOnly());
    store.close();
    assertThatThrownBy(() -> recover(RecoveryRequest.of(index)))
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining("number=2");
    recover(RecoveryRequest.newest());
    assertThat(store.checkpoints().list()).containsExactly(full);
    assertHolds(0, KEYS, 0);
    store.close();
  }

  @Test
  void aStoreWithAnIndexCheckpointOnlyStartsEmpty() throws IOException {
    open(1 << 18);
    put(0, KEYS, 0);
    store.checkpoints().take(CheckpointRequest.indexOnly());
    store.close();
    assertThatThrownBy(() -> recover(RecoveryRequest.newest())).isInstanceOf(BadConfig.class);
    open(1 << 18);
    assertThat(store.checkpoints().list()).isEmpty();
    assertThat(names()).noneMatch(name -> name.startsWith("checkpoint-"));
    store.close();
  }

  @Test
  void anIndexIsMadeFromTheLogAlone() {
    open(1 << 16);
    put(0, KEYS, 0);
    store.index().grow();
    try (LongSession<Void> session = session()) {
      for (int key = 0; key < KEYS; key += 3) {
        session.delete(key, null);
      }
    }
    store.log().compact();
    put(0, 100, 5);
    store.checkpoints().take();
    store.close();
    recover(RecoveryRequest.newest().withoutIndex());
    assertHolds(0, 100, 5);
    try (LongSession<Void> session = session()) {
      for (int key = 100; key < KEYS; key++) {
        assertThat(session.read(key, null))
            .isEqualTo(key % 3 == 0 ? Status.NOT_FOUND : Status.FOUND);
      }
    }
    StoreInvariants.check(store);
    store.close();
  }

  @Test
  void aLogWithForksNeedsItsIndex() {
    // So few buckets that chains of one tag meet.
    open(1 << 12);
    put(0, KEYS, 0);
    store.index().shrink();
    CheckpointToken shrunk = store.checkpoints().take();
    store.close();
    assertThatThrownBy(() -> recover(RecoveryRequest.newest().withoutIndex()))
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining("halved");
    recover(RecoveryRequest.of(shrunk));
    assertHolds(0, KEYS, 0);
    store.close();
  }

  @Test
  void recoveryReportsItsProgress() {
    open(1 << 18);
    put(0, KEYS, 0);
    store.checkpoints().take();
    put(0, KEYS, 1);
    take(CheckpointKind.SNAPSHOT, false);
    store.close();
    List<RecoveryProgress> reported = new ArrayList<>();
    recover(RecoveryRequest.newest().onProgress(reported::add));
    store.close();
    assertThat(reported.stream().map(RecoveryProgress::phase).distinct())
        .containsExactly(Phase.INDEX, Phase.VERIFY, Phase.SNAPSHOT, Phase.REPLAY);
    for (Phase phase : Phase.values()) {
      List<RecoveryProgress> ofPhase = reported.stream().filter(p -> p.phase() == phase).toList();
      assertThat(ofPhase.getFirst().doneBytes()).isZero();
      assertThat(ofPhase.getLast().doneBytes()).isEqualTo(ofPhase.getLast().totalBytes());
      assertThat(ofPhase).extracting(RecoveryProgress::doneBytes).isSorted();
      assertThat(ofPhase).hasSizeLessThan(110);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "INDEX_ONLY")
  void anEmptyStoreIsRecoveredEmpty(CheckpointKind kind) {
    open(1 << 18);
    take(kind, false);
    take(kind, false);
    store.close();
    recover(RecoveryRequest.newest());
    assertThat(store.checkpoints().list()).hasSize(2);
    put(0, 10, 0);
    take(kind, false);
    store.close();
    recover(RecoveryRequest.newest().withoutIndex());
    assertHolds(0, 10, 0);
    store.close();
  }

  @ParameterizedTest
  @EnumSource
  void allFilesAreTheirOwnersAlone(CheckpointKind kind) throws IOException {
    open(1 << 18);
    put(0, KEYS, 0);
    take(kind, true);
    try (Stream<Path> paths = Files.list(directory)) {
      for (Path path : paths.toList()) {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
            .as(path.toString())
            .isEqualTo("rw-------");
      }
    }
    store.close();
  }

  private List<String> names() throws IOException {
    try (Stream<Path> paths = Files.list(directory)) {
      return paths.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }

  private StoreConfig config(long indexBytes) {
    return StoreConfig.builder(directory)
        .memoryBytes(1 << 20)
        .recordKind(RecordKind.LONGS)
        .pageBytes(4096)
        .logMemoryBytes(65536)
        .indexBytes(indexBytes)
        .scratchBytes(64 << 10)
        .segmentBytes(32768)
        .build();
  }
}
