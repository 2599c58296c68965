package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.log.HybridLog;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests operations that wait for room while the disk is full, and how such a wait ends. */
@Timeout(120)
class FullDiskWaitTest extends FullDiskStores {
  @Test
  void aWaitForRoomEndsWithItsCauseAndTheLastCheckpointIsIntact() {
    try (FasterStore store = open(config(RecordKind.LONGS).spaceWaitMillis(200));
        LongSession<Object> session = session(store)) {
      add(session, 0, 500);
      store.checkpoints().take();
      space.refuse(FOR_EVER, "log.");
      long before = System.nanoTime();
      DeviceFailed failed = catchThrowableOfType(DeviceFailed.class, () -> add(session, 500, 9999));
      assertThat(System.nanoTime() - before).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(200));
      assertThat(failed)
          .hasMessageContaining("the store accepts no more writes")
          .hasMessageContaining("file=")
          .hasMessageContaining("offset=")
          .hasMessageContaining("waitedMillis=")
          .hasRootCauseMessage("No space left on device");
      space.refuse(0, "");
      assertThatThrownBy(() -> add(session, 500, 9999)).isInstanceOf(DeviceFailed.class);
      assertThatThrownBy(store.checkpoints()::take).isInstanceOf(DeviceFailed.class);
      assertThatThrownBy(store.integration()::export).isInstanceOf(DeviceFailed.class);
      assertThat(session.read(1, null)).isEqualTo(Status.FOUND);
    }
    assertRecovers(500);
  }

  /**
   * A store that has room for {@value #PAGES} pages, all read-only, and does not wait for space.
   */
  private FasterStore openWithoutPatience() {
    return open(
        config(RecordKind.LONGS)
            .memoryBytes(4 << 20)
            .logMemoryBytes((long) PAGES * PAGE_BYTES)
            .mutableFraction(0)
            .spaceWaitMillis(0));
  }

  /** Free frames that are not cleared yet count as room, whatever their position in a batch. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
  void operationsDoNotWaitForSpaceWhileThereIsAFrame(int extraPages) {
    try (FasterStore store = openWithoutPatience();
        LongSession<Object> session = session(store)) {
      for (int i = 0; i < (2 * PAGES + extraPages) * PER_PAGE; i++) {
        session.upsert(i % PER_PAGE, i, null);
      }
      space.refuse(FOR_EVER, "log.");
      assertThatThrownBy(() -> add(session, 0, Integer.MAX_VALUE)).isInstanceOf(DeviceFailed.class);
      HybridLog log = Insides.engine(store).log();
      assertThat(log.tailAddress() - log.pageStart(log.flushedAddress()))
          .isGreaterThan((PAGES - 2L) * PAGE_BYTES);
    }
  }

  /** A release would take frames from writers, which would then wait for space. */
  @Test
  void noMemoryIsReleasedWhileTheDiskIsFull() {
    try (FasterStore store = openWithoutPatience();
        LongSession<Object> session = session(store)) {
      add(session, 0, 100 * PER_PAGE);
      space.refuse(FOR_EVER, "log.");
      while (space.refused() == 0) {
        add(session, 0, PER_PAGE);
      }
      assertThat(release(store)).isZero();
      add(session, 0, 50 * PER_PAGE);
      space.refuse(0, "");
      Pause.until(() -> !Insides.engine(store).log().room().isRefused());
      assertThat(release(store)).isEqualTo((PAGES - 16) * PAGE_BYTES);
      assertHas(session, 100 * PER_PAGE);
    }
  }

  private static long release(FasterStore store) {
    CompletableFuture<Long> released = new CompletableFuture<>();
    Duration atMost = Duration.ofHours(1);
    assertThat(
            store
                .integration()
                .releaseMemory((long) PAGES * PAGE_BYTES, atMost, released::complete))
        .isTrue();
    return released.join();
  }

  /**
   * Frames whose pages are on disk become free when a thread leaves its epoch. A writer waits for
   * that thread, and does not fail because later pages were refused.
   */
  @Test
  void aWriterWaitsForAnEpochAndNotForSpace() throws Exception {
    try (FasterStore store = openWithoutPatience();
        LongSession<Object> session = session(store)) {
      HybridLog log = Insides.engine(store).log();
      add(session, 0, 200 * PER_PAGE);
      space.refuse(FOR_EVER, "log.");
      add(session, 0, 4 * PER_PAGE);
      while (space.refused() == 0) {
        // Uses no room, so that a slow flusher does not fail the store here.
        session.read(0, null);
      }
      EpochUser reader = Insides.engine(store).epochs().register();
      reader.protect();
      FutureTask<Throwable> writer =
          new FutureTask<>(() ->
              catchThrowable(() -> {
                try (LongSession<Object> writing = session(store)) {
                  add(writing, 0, Integer.MAX_VALUE);
                }
              }));
      Pause.awaitWaiting(Thread.ofPlatform().daemon().start(writer));
      reader.unprotect();
      assertThat(writer.get()).isInstanceOf(DeviceFailed.class);
      assertThat(log.tailAddress() - log.pageStart(log.flushedAddress()))
          .isGreaterThan((PAGES - 2L) * PAGE_BYTES);
      reader.close();
    }
  }

  /**
   * Writers, compaction and checkpoints are running, and none of them waits until the time limit.
   */
  @Test
  void closingDoesNotWaitForSpace() {
    FasterStore store =
        open(config(RecordKind.LONGS).spaceWaitMillis(600_000).backgroundCompaction(true));
    LongSession<Object> session = session(store);
    for (int round = 0; round < 20; round++) {
      add(session, 0, 3000);
    }
    space.refuse(FOR_EVER, "log.");
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread writer =
        Thread.ofPlatform()
            .daemon()
            .start(() -> {
              try {
                while (true) {
                  add(session, 0, 3000);
                }
              } catch (Throwable e) {
                thrown.set(e);
              }
            });
    while (writer.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    store.stopWaiting();
    Pause.join(writer);
    assertThat(thrown.get()).isInstanceOf(DeviceFailed.class);
    session.close();
    store.close();
  }

  /** Compaction may be the one that waits, while nothing else is running. */
  @Test
  void compactionThatWaitsForSpaceDoesNotKeepTheStoreOpen() {
    FasterStore store = open(config(RecordKind.LONGS).spaceWaitMillis(600_000));
    try (LongSession<Object> session = session(store)) {
      add(session, 0, 5000);
    }
    space.refuse(FOR_EVER, "log.");
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread compaction =
        Thread.ofPlatform().daemon().start(() -> thrown.set(catchThrowable(store.log()::compact)));
    while (space.refused() < 4) {
      Thread.onSpinWait();
    }
    store.stopWaiting();
    Pause.join(compaction);
    assertThat(thrown.get()).isInstanceOf(DeviceFailed.class);
    store.close();
  }
}
