package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests upserts of {@code long} keys whose records a checkpoint has made read-only. */
class BlindAppendTest {
  private static final long[] KEYS = {1, 2, 1, 4};

  @TempDir Path directory;

  @Test
  void theFirstUpsertAfterAFoldOverCopiesAndTheNextDoesNot() {
    try (FasterStore store = FasterStore.open(config());
        LongSession<Void> session = session(store)) {
      assertThat(session.upsert(1, 10, null)).isEqualTo(Status.CREATED);
      assertThat(session.upsert(1, 11, null)).isEqualTo(Status.UPDATED_IN_PLACE);
      store.checkpoints().take();
      long serial = session.serial();
      assertThat(session.upsert(1, 12, null)).isEqualTo(Status.COPIED);
      assertThat(session.upsert(1, 13, null)).isEqualTo(Status.UPDATED_IN_PLACE);
      assertThat(session.serial()).isEqualTo(serial + 2);
      assertThat(read(session, 1)).isEqualTo(13);
    }
  }

  @Test
  void aBatchCopiesEachKeyOnceAndMakesTheNewOne() {
    try (FasterStore store = FasterStore.open(config());
        LongSession<Void> session = session(store)) {
      session.upsert(1, 10, null);
      session.upsert(2, 20, null);
      store.checkpoints().take();
      long serial = session.serial();
      Status[] statuses = new Status[KEYS.length];
      session.upsert(KEYS, new long[] {11, 21, 12, 41}, statuses, 0, KEYS.length, null);
      assertThat(statuses)
          .containsExactly(Status.COPIED, Status.COPIED, Status.UPDATED_IN_PLACE, Status.CREATED);
      assertThat(session.serial()).isEqualTo(serial + KEYS.length);
      assertThat(read(session, 1)).isEqualTo(12);
      assertThat(read(session, 2)).isEqualTo(21);
      assertThat(read(session, 4)).isEqualTo(41);
    }
  }

  @Test
  void aCopyIsOfTheVersionInWhichItWasMade() {
    CheckpointToken before;
    CheckpointToken after;
    try (FasterStore store = FasterStore.open(config());
        LongSession<Void> session = session(store)) {
      session.upsert(1, 10, null);
      before = store.checkpoints().take();
      assertThat(session.upsert(1, 11, null)).isEqualTo(Status.COPIED);
      after = store.checkpoints().take();
      assertThat(session.upsert(1, 12, null)).isEqualTo(Status.COPIED);
    }
    assertThat(recovered(after)).isEqualTo(11);
    assertThat(recovered(before)).isEqualTo(10);
  }

  private long recovered(CheckpointToken token) {
    try (FasterStore store = FasterStore.recover(config(), RecoveryRequest.of(token));
        LongSession<Void> session = session(store)) {
      return read(session, 1);
    }
  }

  private StoreConfig config() {
    return StoreConfig.builder(directory)
        .recordKind(RecordKind.LONGS)
        .memoryBytes(4 << 20)
        .indexBytes(64 << 10)
        .build();
  }

  private static LongSession<Void> session(FasterStore store) {
    return store.newSession().longs(LongFunctions.sum());
  }

  private static long read(LongSession<Void> session, long key) {
    assertThat(session.read(key, null)).isEqualTo(Status.FOUND);
    return session.value();
  }
}
