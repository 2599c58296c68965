package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.memory.ResidentPages;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.sim.DelegatingDevice;
import io.fasterkv.spi.StoreIntegration;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a store releases memory to others that share it with the store, and accepts more. */
class MemoryExchangeTest {
  private static final int PAGE = 4096;
  private static final long LOG_BYTES = 64 * PAGE;
  private static final long MEMORY_BYTES = 48 << 20;
  private static final int KEYS = 100_000;
  private static final Duration LONG = Duration.ofMinutes(1);

  @TempDir Path directory;

  private StoreConfigBuilder config() {
    return StoreConfig.builder(directory)
        .memoryBytes(MEMORY_BYTES)
        .logMemoryBytes(LOG_BYTES)
        .indexBytes(1 << 20)
        .pageBytes(PAGE)
        .recordKind(RecordKind.LONGS);
  }

  private static LongSession<Void> session(FasterStore store) {
    return store.newSession().longs(LongFunctions.sum());
  }

  private static long release(FasterStore store, long bytes) {
    CompletableFuture<Long> given = new CompletableFuture<>();
    assertThat(store.integration().releaseMemory(bytes, LONG, given::complete)).isTrue();
    return given.join();
  }

  private static void check(FasterStore store, int keys) {
    try (LongSession<Void> session = session(store)) {
      for (long key = 0; key < keys; key++) {
        assertThat(session.read(key, null)).as("key %d", key).isEqualTo(Status.FOUND);
        assertThat(session.value()).as("key %d", key).isEqualTo(key);
      }
    }
  }

  private static void add(FasterStore store, int from, int until) {
    try (LongSession<Void> session = session(store)) {
      for (int key = from; key < until; key++) {
        session.rmw(key, key, null);
      }
    }
  }

  @Test
  void theLogReleasesWholePagesWhileRecordsAreAdded() throws IOException {
    try (FasterStore store = FasterStore.open(config().build())) {
      CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> add(store, 0, KEYS));
      long given = release(store, 9 * PAGE + 1);
      assertThat(given).isEqualTo(10 * PAGE);
      given += release(store, PAGE);
      writer.join();
      assertThat(given).isEqualTo(11 * PAGE);
      assertThat(store.statistics().memory().logBytes()).isEqualTo(LOG_BYTES - given);
      assertThat(store.statistics().memory().budgetBytes()).isEqualTo(MEMORY_BYTES - given);
      add(store, KEYS, 2 * KEYS);
      assertThat(ResidentPages.bytes(Insides.engine(store).log().memory()))
          .isLessThanOrEqualTo(LOG_BYTES - given);
      check(store, 2 * KEYS);
      StoreInvariants.check(store);
    }
  }

  @Test
  void theLogAcceptsMemoryWhileRecordsAreAdded() throws IOException {
    long most = 3 * LOG_BYTES;
    StoreConfig config = config().maxMemoryBytes(MEMORY_BYTES + 2 * LOG_BYTES).build();
    try (FasterStore store = FasterStore.open(config)) {
      StoreIntegration memory = store.integration();
      assertThat(memory.acceptableBytes()).isEqualTo(most - LOG_BYTES);
      assertThat(memory.acceptIndexMemory(PAGE)).as("it does not grow").isZero();
      CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> add(store, 0, KEYS));
      assertThat(memory.acceptLogMemory(PAGE - 1)).isZero();
      assertThat(memory.acceptLogMemory(7 * PAGE + 1)).isEqualTo(7 * PAGE);
      assertThat(memory.acceptLogMemory(most - LOG_BYTES - 7 * PAGE))
          .isEqualTo(most - LOG_BYTES - 7 * PAGE);
      writer.join();
      assertThat(store.statistics().memory().logBytes()).isEqualTo(most);
      assertThat(store.statistics().memory().budgetBytes()).isEqualTo(MEMORY_BYTES + 2 * LOG_BYTES);
      add(store, KEYS, 2 * KEYS);
      assertThat(ResidentPages.bytes(Insides.engine(store).log().memory()))
          .isBetween(2 * LOG_BYTES, most);
      assertThat(memory.memoryUses().usedBytes()).isBetween(2 * LOG_BYTES, most);
      check(store, 2 * KEYS);
      StoreInvariants.check(store);
    }
  }

  /** The reserved addresses take no memory, and neither prefaulting nor huge pages touch them. */
  @Test
  void reservedAddressesTakeNoMemory() throws IOException {
    long log = 4 << 20;
    StoreConfig config =
        config().logMemoryBytes(log).maxMemoryBytes(MEMORY_BYTES + 3 * log).build();
    try (FasterStore store = FasterStore.open(config)) {
      MemorySegment memory = Insides.engine(store).log().memory();
      assertThat(memory.byteSize()).isEqualTo(4 * log);
      for (int key = 0; key < 6; key++) {
        add(store, key * KEYS, (key + 1) * KEYS);
        assertThat(ResidentPages.bytes(memory)).as("%d keys", key * KEYS).isLessThanOrEqualTo(log);
      }
      check(store, 6 * KEYS);
    }
  }

  @Test
  void memoryThatWasReleasedIsAcceptedAgain() {
    try (FasterStore store = FasterStore.open(config().build())) {
      StoreIntegration memory = store.integration();
      assertThat(memory.acceptLogMemory(PAGE)).isZero();
      CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> add(store, 0, 2 * KEYS));
      while (!writer.isDone()) {
        long given = release(store, 20 * PAGE);
        assertThat(given).isEqualTo(20 * PAGE);
        assertThat(memory.acceptLogMemory(given)).isEqualTo(given);
      }
      writer.join();
      assertThat(store.statistics().memory().budgetBytes()).isEqualTo(MEMORY_BYTES);
      check(store, 2 * KEYS);
      StoreInvariants.check(store);
    }
  }

  /** The index gets from the log what it can use, and not half of a log that has grown. */
  @Test
  void aLogThatHasGrownLendsOnlyWhatTheIndexCanUse() {
    StoreConfig config = config().maxMemoryBytes(MEMORY_BYTES + (8 << 20)).logHalvings(1).build();
    try (FasterStore store = FasterStore.open(config)) {
      store.integration().acceptLogMemory(8 << 20);
      long index = store.statistics().memory().indexBytes();
      add(store, 0, 3 * KEYS);
      long used = store.statistics().memory().usedBytes();
      assertThat(used).isLessThanOrEqualTo(MEMORY_BYTES + (8 << 20));
      assertThat(store.statistics().memory().indexBytes() + store.statistics().memory().logBytes())
          .as("nothing is lost between the two")
          .isEqualTo(index + LOG_BYTES + (8 << 20));
      check(store, 3 * KEYS);
    }
  }

  @Test
  void aClosedStoreAcceptsNothing() {
    FasterStore store = FasterStore.open(config().maxMemoryBytes(2 * MEMORY_BYTES).build());
    StoreIntegration memory = store.integration();
    store.close();
    assertThat(memory.acceptableBytes()).isZero();
    assertThat(memory.acceptLogMemory(PAGE)).isZero();
  }

  @Test
  void theIndexMayBorrowFromTheLogMeanwhile() throws IOException {
    try (FasterStore store = FasterStore.open(config().logHalvings(2).build())) {
      CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> add(store, 0, KEYS));
      long given = 0;
      while (!writer.isDone() && store.integration().releasableBytes() > 0) {
        given += release(store, PAGE);
      }
      writer.join();
      add(store, KEYS, 2 * KEYS);
      assertThat(store.statistics().memory().budgetBytes()).isEqualTo(MEMORY_BYTES - given);
      assertThat(store.statistics().memory().usedBytes()).isLessThanOrEqualTo(MEMORY_BYTES - given);
      assertThat(ResidentPages.bytes(Insides.engine(store).log().memory()))
          .isLessThanOrEqualTo(store.statistics().memory().logBytes());
      check(store, 2 * KEYS);
      StoreInvariants.check(store);
    }
  }

  @Test
  void sixteenPagesStay() {
    try (FasterStore store = FasterStore.open(config().build())) {
      StoreIntegration memory = store.integration();
      assertThat(memory.releasableBytes()).isEqualTo(LOG_BYTES - 16 * PAGE);
      assertThat(release(store, MEMORY_BYTES)).isEqualTo(LOG_BYTES - 16 * PAGE);
      assertThat(memory.releasableBytes()).isZero();
      assertThat(memory.releaseMemory(PAGE, LONG, released -> {})).isFalse();
      add(store, 0, KEYS);
      check(store, KEYS);
    }
  }

  /** An index that starts with a sixteenth of its memory has not taken the rest. */
  @Test
  void anIndexThatHasNotGrownReleasesMemoryAndGrowsByLess() {
    long index = 32 << 20;
    StoreConfigBuilder config = config().indexBytes(index).growingIndex(true);
    try (FasterStore store = FasterStore.open(config.build())) {
      long before = Insides.engine(store).index().newestTable().geometry().bytes();
      long log = store.statistics().memory().logBytes();
      long given = release(store, 20 << 20);
      assertThat(given).isEqualTo(20 << 20);
      assertThat(store.statistics().memory().logBytes())
          .as("the log keeps its memory as long as the index has not taken its own")
          .isEqualTo(log);
      add(store, 0, 10 * KEYS);
      Engine engine = Insides.engine(store);
      while (engine.index().newestTable().geometry().bytes() == before) {
        Thread.onSpinWait();
      }
      assertThat(store.statistics().memoryBytes()).isLessThanOrEqualTo(MEMORY_BYTES - given);
      check(store, 10 * KEYS);
      StoreInvariants.check(store);
    }
  }

  /** Writes wait until the device continues. */
  private static final class HangingDevice extends DelegatingDevice {
    final CompletableFuture<Void> continuing = new CompletableFuture<>();

    HangingDevice(StoreConfig config) {
      super(FasterStore.deviceFor(config));
    }

    @Override
    public void write(long address, MemorySegment source, Completion completion) {
      CompletableFuture<Void> unused =
          continuing.thenRun(() -> device.write(address, source, completion));
    }
  }

  @Test
  void nothingIsReleasedWhileTheDeviceHangs() {
    StoreConfig config = config().build();
    HangingDevice device = new HangingDevice(config);
    try (FasterStore store = FasterStore.open(config, device)) {
      long perPage = PAGE / 24;
      add(store, 0, (int) (60 * perPage));
      CompletableFuture<Long> given = new CompletableFuture<>();
      Duration moment = Duration.ofMillis(200);
      assertThat(store.integration().releaseMemory(32 * PAGE, moment, given::complete)).isTrue();
      assertThat(given.join()).isZero();
      device.continuing.complete(null);
      assertThat(store.statistics().memory().budgetBytes()).isEqualTo(MEMORY_BYTES);
      add(store, (int) (60 * perPage), KEYS);
      assertThat(release(store, 32 * PAGE)).isEqualTo(32 * PAGE);
      check(store, KEYS);
    }
  }

  @Test
  void closingEndsARelease() {
    StoreConfig config = config().build();
    HangingDevice device = new HangingDevice(config);
    FasterStore store = FasterStore.open(config, device);
    add(store, 0, 60 * (PAGE / 24));
    CompletableFuture<Long> given = new CompletableFuture<>();
    StoreIntegration memory = store.integration();
    assertThat(memory.releaseMemory(32 * PAGE, LONG, given::complete)).isTrue();
    CompletableFuture<Void> closing = CompletableFuture.runAsync(store::close);
    assertThat(given.join()).isZero();
    device.continuing.complete(null);
    closing.join();
    assertThat(memory.releaseMemory(PAGE, LONG, released -> {})).isFalse();
  }

  @Test
  void theReceiverMayAskAgainAtOnce() {
    try (FasterStore store = FasterStore.open(config().build())) {
      StoreIntegration memory = store.integration();
      AtomicInteger rounds = new AtomicInteger();
      CompletableFuture<Void> end = new CompletableFuture<>();
      Runnable ask =
          new Runnable() {
            @Override
            public void run() {
              boolean isAsked =
                  memory.releaseMemory(
                      PAGE,
                      LONG,
                      released -> {
                        if (rounds.incrementAndGet() < 10) {
                          run();
                        } else {
                          end.complete(null);
                        }
                      });
              if (!isAsked) {
                end.completeExceptionally(new AssertionError("refused in round " + rounds));
              }
            }
          };
      ask.run();
      end.join();
      assertThat(store.statistics().memory().budgetBytes()).isEqualTo(MEMORY_BYTES - 10 * PAGE);
    }
  }
}
