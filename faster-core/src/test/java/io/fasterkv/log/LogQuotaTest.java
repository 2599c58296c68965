package io.fasterkv.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.ResidentPages;
import io.fasterkv.memory.Words;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.state.StoreFailure;
import java.io.IOException;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that a log releases memory and gets more while records are appended. */
class LogQuotaTest {
  private static final int PAGE = 4096;
  private static final int PAGES = 64;
  private static final long BYTES = (long) PAGE * PAGES;

  /** Four records fit a page. */
  private static final long RECORD = 1000;

  private final OffHeapArena arena =
      new OffHeapArena(new MemoryBudget(1 << 20), true, false, System.getLogger("test"));
  private final StoreFailure failure = new StoreFailure(System.getLogger("test"));
  private final Epochs epochs = new Epochs(4, failure);
  private final MemoryDevice device = new MemoryDevice();
  private final HybridLog log = log(BYTES, 2);
  private final EpochUser user = epochs.register();

  private HybridLog log(long bytes, int halvings) {
    return new HybridLog(
        StoreConfig.builder(Path.of("nowhere"))
            .memoryBytes(1 << 20)
            .logMemoryBytes(bytes)
            .pageBytes(PAGE)
            .logHalvings(halvings)
            .build(),
        arena,
        epochs,
        device,
        LogPosition.start(),
        failure);
  }

  @AfterEach
  void close() throws IOException {
    user.close();
    log.close();
    device.close();
    arena.close();
  }

  /**
   * Appends a record whose words are its address; checks all records in memory except those on the
   * tail page.
   */
  private void append() {
    user.protect();
    long address = log.allocate(RECORD);
    if (address != HybridLog.RETRY) {
      for (long at = Long.BYTES; at < RECORD; at += Long.BYTES) {
        long offset = log.offset(address) + at;
        assertThat(Words.loadPlain(log.memory(), offset)).as("fresh memory").isZero();
        Words.storePlain(log.memory(), offset, address);
      }
      Words.storeRelease(log.memory(), log.offset(address), RecordInfo.padding(RECORD));
    }
    user.unprotect();
    log.assist();
  }

  private void checkPages() {
    user.protect();
    for (long page = log.pageEnd(log.headAddress()); page < log.tailPageStart(); page += PAGE) {
      for (long record = page; record + RECORD <= page + PAGE; record += RECORD) {
        long last = log.offset(record) + RECORD - Long.BYTES;
        if (record >= RECORD) {
          assertThat(Words.loadPlain(log.memory(), last)).as("at %d", record).isEqualTo(record);
        }
      }
    }
    user.unprotect();
  }

  private void appendUntil(long address) {
    while (log.tailAddress() < address) {
      append();
    }
  }

  private long halveWhileAppending() {
    CompletableFuture<Long> given =
        CompletableFuture.supplyAsync(() -> log.quota().halve(BYTES, () -> true));
    while (!given.isDone()) {
      append();
      checkPages();
    }
    return given.join();
  }

  private void checkResident(long bytes) throws IOException {
    long until = log.tailAddress() + 3 * BYTES;
    while (log.tailAddress() < until) {
      append();
      assertThat(ResidentPages.bytes(log.memory())).isLessThanOrEqualTo(bytes);
      assertThat(log.tailAddress() - log.headAddress()).isLessThanOrEqualTo(bytes);
    }
    checkPages();
  }

  @Test
  void releasesHalfOfItsMemoryEachTime() throws IOException {
    appendUntil(BYTES);
    assertThat(log.quota().canHalve()).isTrue();
    assertThat(halveWhileAppending()).isEqualTo(BYTES / 2);
    checkResident(BYTES / 2);
    assertThat(log.quota().canHalve()).isTrue();
    assertThat(halveWhileAppending()).isEqualTo(BYTES / 4);
    checkResident(BYTES / 4);
    assertThat(log.quota().canHalve()).as("sixteen pages stay").isFalse();
  }

  /** Untouched memory is released too, and is not touched later. */
  @Test
  void givesHalfOfABufferThatHasNotBeenUsedUp() throws IOException {
    appendUntil(BYTES / 4);
    assertThat(log.quota().halve(BYTES, () -> true)).isEqualTo(BYTES / 2);
    checkPages();
    checkResident(BYTES / 2);
  }

  @Test
  void releasesHalfOfItsMemoryWithoutWriters() throws IOException {
    appendUntil(2 * BYTES);
    assertThat(log.quota().halve(BYTES, () -> true)).isEqualTo(BYTES / 2);
    assertThat(ResidentPages.bytes(log.memory())).isLessThanOrEqualTo(BYTES / 2);
    checkPages();
    checkResident(BYTES / 2);
  }

  private static long raise(HybridLog log, long bytes) {
    AtomicLong raised = new AtomicLong(-1);
    log.quota().raise(bytes, raised::set);
    return raised.get();
  }

  @Test
  void getsBackWhatItHasReleased() throws IOException {
    appendUntil(2 * BYTES);
    assertThat(raise(log, BYTES)).as("it has all memory").isZero();
    assertThat(halveWhileAppending()).isEqualTo(BYTES / 2);
    assertThat(raise(log, 5 * PAGE + 1)).isEqualTo(5 * PAGE);
    assertThat(log.quota().memoryBytes()).isEqualTo(BYTES / 2 + 5 * PAGE);
    checkResident(BYTES / 2 + 5 * PAGE);
    assertThat(raise(log, BYTES)).isEqualTo(BYTES / 2 - 5 * PAGE);
    long head = log.headAddress();
    appendUntil(log.tailAddress() + BYTES / 2 - 8 * PAGE);
    assertThat(log.headAddress()).as("more records fit").isEqualTo(head);
    checkResident(BYTES);
  }

  /** Memory moves to and fro while another thread appends. */
  @Test
  void memoryMovesWhileRecordsAreAppended() {
    AtomicLong moved = new AtomicLong();
    CompletableFuture<Void> mover =
        CompletableFuture.runAsync(() -> {
          SplittableRandom random = new SplittableRandom(1);
          long lacking = 0;
          for (int i = 0; i < 200; i++) {
            lacking += log.quota().release(random.nextLong(BYTES), () -> true);
            long raised = raise(log, random.nextLong(BYTES));
            lacking -= raised;
            moved.addAndGet(raised);
            assertThat(log.quota().memoryBytes()).isEqualTo(BYTES - lacking);
          }
        });
    while (!mover.isDone()) {
      append();
      checkPages();
    }
    mover.join();
    assertThat(moved.get()).isGreaterThan(BYTES);
    appendUntil(log.tailAddress() + 3 * BYTES);
    checkPages();
  }

  @Test
  void noMemoryIsAcceptedDuringARelease() {
    appendUntil(2 * BYTES);
    log.quota().halve(BYTES, () -> true);
    assertThat(
            log.quota()
                .release(
                    PAGE,
                    () -> {
                      CompletableFuture<Long> other =
                          CompletableFuture.supplyAsync(() -> raise(log, PAGE));
                      assertThat(other.join()).isZero();
                      return true;
                    }))
        .isEqualTo(PAGE);
  }

  @Test
  void endsOnRequest() {
    appendUntil(2 * BYTES);
    assertThat(log.quota().halve(BYTES, () -> false)).isZero();
    assertThat(log.quota().memoryBytes()).isEqualTo(BYTES);
    assertThat(log.quota().releasableBytes()).isEqualTo(BYTES - 16 * PAGE);
    appendUntil(6 * BYTES);
    checkPages();
  }

  /** Each round gives up one look later; the limits are restored each time. */
  @Test
  void endsInAnyStep() throws IOException {
    int looks = 0;
    for (long released = 0; released == 0; looks++) {
      appendUntil(log.tailAddress() + BYTES);
      AtomicInteger left = new AtomicInteger(looks);
      released = log.quota().release(30 * PAGE, () -> left.getAndDecrement() > 0);
      assertThat(log.quota().memoryBytes()).isEqualTo(BYTES - released);
      checkPages();
    }
    assertThat(looks).isGreaterThan(1);
    checkResident(BYTES - 30 * PAGE);
  }

  @Test
  void aThreadThatWaitsForItsTurnMayGiveUp() {
    appendUntil(2 * BYTES);
    assertThat(
            log.quota()
                .release(
                    PAGE,
                    () -> {
                      CompletableFuture<Long> other =
                          CompletableFuture.supplyAsync(
                              () -> log.quota().halve(BYTES, () -> false));
                      assertThat(other.join()).isZero();
                      return true;
                    }))
        .isEqualTo(PAGE);
  }

  @Test
  void anErrorLeavesAllPages() {
    appendUntil(2 * BYTES);
    OutOfMemoryError error = new OutOfMemoryError("test");
    assertThatThrownBy(() ->
            log.quota()
                .release(
                    PAGE,
                    () -> {
                      throw error;
                    }))
        .isSameAs(error);
    assertThat(log.quota().memoryBytes()).isEqualTo(BYTES);
    assertThat(log.quota().release(PAGE, () -> true)).isEqualTo(PAGE);
  }

  /** The kernel would release the adjacent memory too. */
  @Test
  void partsOfSystemPagesAreNotReleased() {
    log.memory().asSlice(0, 2 * PAGE).fill((byte) 1);
    arena.release(log.memory().asSlice(0, PAGE / 4));
    assertThat(Words.loadPlain(log.memory(), 0)).as("cleared").isZero();
    assertThat(Words.loadPlain(log.memory(), PAGE / 4)).as("adjacent").isNotZero();
    assertThat(arena.isResizable(log.memory(), PAGE)).isTrue();
    assertThat(arena.isResizable(log.memory(), PAGE / 4)).isFalse();
    log.memory().asSlice(0, 2 * PAGE).fill((byte) 0);
  }

  @Test
  void memoryThatIsTheJvmsIsKept() {
    OffHeapArena ordinary = new OffHeapArena(new MemoryBudget(1 << 20));
    PageFrames frames = PageFrames.resizable(ordinary, BYTES, BYTES, PAGE, BYTES);
    assertThat(frames.isResizable()).isFalse();
    frames.close();
    ordinary.close();
  }
}
