package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that an interrupt reaches its caller and is not treated as a failure of the disk. */
class InterruptTest {
  private static final int KEYS = 2_000;
  private static final int ROUNDS = 20;

  @TempDir Path directory;

  private StoreConfig config() {
    return StoreConfig.builder(directory)
        .memoryBytes(2 << 20)
        .pageBytes(4096)
        .logMemoryBytes(64 << 10)
        .segmentBytes(32768)
        .indexBytes(64 << 10)
        .build();
  }

  @AfterEach
  void forget() {
    Thread.interrupted();
  }

  @ParameterizedTest
  @EnumSource(
      value = CheckpointKind.class,
      names = {"FOLD_OVER", "SNAPSHOT", "INCREMENTAL_SNAPSHOT"})
  void anInterruptEndsNoCheckpointAndNoRecovery(CheckpointKind kind) {
    try (FasterStore store = FasterStore.open(config())) {
      for (int generation = 1; generation <= 3; generation++) {
        upsert(store, generation);
        Thread.currentThread().interrupt();
        store.checkpoints().take(CheckpointRequest.full(kind));
        assertThat(Thread.interrupted()).isTrue();
      }
      Thread.currentThread().interrupt();
      store.checkpoints().remove(store.checkpoints().list().getFirst());
      assertThat(Thread.interrupted()).isTrue();
    }
    for (RecoveryRequest request :
        new RecoveryRequest[] {RecoveryRequest.newest(), RecoveryRequest.newest().withoutIndex()}) {
      Thread.currentThread().interrupt();
      try (FasterStore store = FasterStore.recover(config(), request)) {
        assertThat(Thread.interrupted()).isTrue();
        assertHolds(store, 3);
      }
    }
  }

  /** At any moment. */
  @Tag("slow")
  @Test
  void interruptsAtAnyTimeEndNoCheckpointAndNoRecovery() throws Exception {
    Thread caller = Thread.currentThread();
    Thread interrupter =
        Thread.ofPlatform()
            .start(() -> {
              while (!Thread.currentThread().isInterrupted()) {
                caller.interrupt();
                LockSupport.parkNanos(50_000);
              }
            });
    try {
      FasterStore store = FasterStore.open(config());
      for (int round = 1; round <= ROUNDS; round++) {
        upsert(store, round);
        CheckpointKind kind =
            round % 2 == 0 ? CheckpointKind.FOLD_OVER : CheckpointKind.INCREMENTAL_SNAPSHOT;
        store.checkpoints().take(CheckpointRequest.full(kind));
        store.close();
        store = FasterStore.recover(config());
        assertHolds(store, round);
      }
      store.close();
    } finally {
      interrupter.interrupt();
      while (interrupter.isAlive()) {
        Thread.onSpinWait();
      }
    }
  }

  private static void upsert(FasterStore store, int generation) {
    try (var session = store.newSession().spans(new BytesFunctions())) {
      for (int key = 0; key < KEYS; key++) {
        session.upsert(ModelDriver.key(key), ByteSpan.of(value(key, generation)), null);
      }
    }
  }

  private static void assertHolds(FasterStore store, int generation) {
    try (var session = store.newSession().spans(new BytesFunctions())) {
      for (int key = 0; key < KEYS; key++) {
        BytesFunctions.Result result = new BytesFunctions.Result();
        assertThat(session.read(ModelDriver.key(key), null, result, null)).isEqualTo(Status.FOUND);
        assertThat(result.value).isEqualTo(value(key, generation));
      }
    }
  }

  private static byte[] value(int key, int generation) {
    return new byte[] {(byte) key, (byte) (key >> 8), (byte) generation};
  }
}
