package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.MemoryOrigin.Run;
import io.fasterkv.api.StoreException;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.device.ReadQueue;
import io.fasterkv.device.file.FileDevice;
import io.fasterkv.device.restore.LazyRestoreDevice;
import io.fasterkv.spi.StoreExport;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests lazy restores whose origin fails, is damaged, or is not the one of the checkpoint. */
class LazyRestoreFailureTest extends LazyRestoreStores {
  /** Compaction's first sample of a remote log fails with a temporary error. */
  @Tag("slow")
  @Test
  void temporaryReadFailuresDoNotEndTheStore() throws Exception {
    List<Run> runs = exported();
    MemoryOrigin origin = new MemoryOrigin(runs).refusing(FOR_EVER).refusingPieces(2);
    Lines lines = new Lines();
    StoreConfig config = prepare(runs, config("second").backgroundCompaction(true).logger(lines));
    try (FasterStore store = FasterStore.recover(config, RecoveryRequest.newest().from(origin))) {
      store.checkpoints().list().forEach(store.checkpoints()::remove);
      store.integration().copyOrigin();
      long start = System.nanoTime();
      while (origin.piecesToRefuse() > 0) {
        assertThat(System.nanoTime() - start).isLessThan(PATIENCE.toNanos());
        Thread.onSpinWait();
      }
      // Runs continue, and their writes show that the log accepts records.
      for (int generation = 2; store.statistics().compaction().passes() == 0; generation++) {
        upsert(store, 0, KEYS / 2, generation);
      }
      upsert(store, 0, KEYS / 2, 99);
      assertHolds(store, 0, KEYS / 2, 99);
      assertHolds(store, KEYS / 2, KEYS, 1);
    }
    assertThat(lines.count("WARNING a part of the log cannot be copied now; ")).isPositive();
    assertThat(lines.count("WARNING compaction is paused and retries every second: cause="))
        .isPositive();
  }

  @Test
  void aDamagedPieceEndsTheStoreAndIsNamed() throws Exception {
    List<Run> runs = exported();
    Run wrong = runs.get(runs.size() / 2);
    wrong.bytes().get(3)[100] ^= 1;
    String place = "file=memory-" + wrong.from() + ", offset=" + 3 * 4096;
    try (FasterStore store = open(runs, new MemoryOrigin(runs))) {
      try (StoreExport export = store.integration().export()) {
        export.awaitWritten();
        assertThatThrownBy(
                () -> export.linkSegments(Files.createDirectory(directory.resolve("linked"))))
            .isInstanceOf(IOException.class)
            .hasMessageContaining(place);
      } catch (StoreException alreadyEnded) {
        assertThat(alreadyEnded).hasMessageContaining(place);
      }
      assertThatThrownBy(() -> upsert(store, 0, KEYS, 2))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining(place);
    }
  }

  @Test
  void aDamagedPieceIsNeverReadAsAValue() throws Exception {
    List<Run> runs = exported();
    runs.forEach(run -> run.bytes().forEach(bytes -> bytes[bytes.length / 2] ^= 1));
    MemoryOrigin origin = new MemoryOrigin(runs).refusing(FOR_EVER);
    FasterStore store = open(runs, origin);
    try {
      assertThatThrownBy(() -> assertHolds(store, 0, KEYS, 1))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("file=memory-");
    } finally {
      store.close();
    }
  }

  @Test
  void aDigestThatIsNotOfItsFileIsRefused() throws Exception {
    List<Run> runs = exported();
    Run first = runs.getFirst();
    byte[] cut = Arrays.copyOf(first.digest(), first.digest().length - 1);
    byte[] shifted = first.digest().clone();
    ByteBuffer.wrap(shifted).order(ByteOrder.LITTLE_ENDIAN).putInt(16, 1 << 28);
    for (byte[] digest : List.of(cut, shifted)) {
      List<Run> changed = new ArrayList<>(runs);
      changed.set(0, new Run(first.pieces(), first.bytes(), digest));
      StoreConfig config = prepare(changed, config("second-" + digest.length));
      RecoveryRequest request = RecoveryRequest.newest().from(new MemoryOrigin(changed));
      assertThatThrownBy(() -> FasterStore.recover(config, request))
          .isInstanceOf(Corrupt.class)
          .hasMessageContaining("file=memory-");
    }
  }

  /** Without the check, everything written after the origin's end would be lost silently. */
  @Test
  void theOriginOfAnotherCheckpointIsRefused() throws Exception {
    List<Run> runs = exported();
    StoreConfig config = prepare(runs, config("second").deleteOnClose(false));
    RecoveryRequest first = RecoveryRequest.newest().from(new MemoryOrigin(runs));
    CheckpointToken imported;
    try (FasterStore store = FasterStore.recover(config, first)) {
      imported = store.checkpoints().list().getFirst();
      upsert(store, 0, KEYS / 2, 2);
      store.checkpoints().take();
    }
    MemoryOrigin shorter = new MemoryOrigin(runs);
    RecoveryRequest later = RecoveryRequest.newest().from(shorter);
    assertThatThrownBy(() -> FasterStore.recover(config, later))
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining("the origin's log is not the checkpoint's: number=2, pieces=");
    assertThat(shorter.isClosed()).isTrue();
    RecoveryRequest named = RecoveryRequest.of(imported);
    RecoveryRequest cut = named.from(new MemoryOrigin(runs.subList(0, runs.size() - 1)));
    assertThatThrownBy(() -> FasterStore.recover(config, cut))
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining("first that differs=none");
    try (FasterStore store = FasterStore.recover(config)) {
      assertHolds(store, 0, KEYS / 2, 2);
      assertHolds(store, KEYS / 2, KEYS, 1);
    }
    RecoveryRequest again = named.from(new MemoryOrigin(runs));
    try (FasterStore store = FasterStore.recover(config, again)) {
      assertHolds(store, 0, KEYS, 1);
    }
  }

  /** Every failure that ends a read reaches the thread that waits for it. */
  @Test
  void anErrorInAReadOfTheOriginEndsTheRead() throws Exception {
    List<Run> runs = exported();
    StoreConfig config = prepare(runs, config("second"));
    for (Error error : List.of(new OutOfMemoryError("a test"), new StackOverflowError())) {
      MemoryOrigin origin = new MemoryOrigin(runs).throwing(error);
      FileDevice files = new FileDevice(config.directory(), config.segmentBytes());
      try (LazyRestoreDevice device =
          new LazyRestoreDevice(files, origin, System.getLogger("test"))) {
        CompletableFuture<Optional<IOException>> read = new CompletableFuture<>();
        device.read(
            4096,
            MemorySegment.ofArray(new byte[300]),
            failure -> read.complete(Optional.ofNullable(failure)));
        assertThat(read.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).orElseThrow()).hasCause(error);
        try (ReadQueue queue = device.readQueue(4)) {
          queue.read(3, 4096, MemorySegment.ofArray(new byte[300]));
          assertThat(queue.next(true)).isEqualTo(3);
          assertThat(queue.failure()).hasCause(error);
        }
      }
    }
  }
}
