package io.fasterkv.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.Insides;
import io.fasterkv.LongSession;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.sim.ScriptedDevice;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests a store without writes: its background thread wakes up and does not use the device. */
class IdleStoreTest {
  private static final int PAGE_BYTES = 4096;
  private static final int KEYS = 8000;
  private static final int WAKE_UPS = 10_000;

  /** By then, a run that waited for writes has seen that there are none, and has ended. */
  private static final int SETTLED = 2 * WriteQuiet.LOOKS;

  @TempDir Path directory;

  private final AtomicLong requests = new AtomicLong();
  private final CountDownLatch isOver = new CountDownLatch(1);
  private int wakeUps;
  private long requestsAtFirst;
  private long requestsAtLast;

  private final ScriptedDevice device = new ScriptedDevice(new MemoryDevice());

  /** Once with only live records, which a sample detects, and once with as many dead ones. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void anIdleStoreDoesNoInputOrOutput(int times) throws InterruptedException {
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(1 << 20)
            .logMemoryBytes(4L * PAGE_BYTES)
            .pageBytes(PAGE_BYTES)
            .recordKind(RecordKind.LONGS)
            .build();
    device.setScript(new Counting());
    try (FasterStore store = FasterStore.open(config, device)) {
      write(store, times);
      Compactor compactor = Insides.compactor(store);
      long requestsBefore = requests.get();
      try (BackgroundCompaction background =
          new BackgroundCompaction(Insides.engine(store), compactor, config, this::wakeUp)) {
        background.start();
        assertThat(isOver.await(100, TimeUnit.SECONDS)).isTrue();
        assertThat(background.failure()).isNull();
      }
      assertThat(requestsAtFirst).as("the thread has taken a sample").isGreaterThan(requestsBefore);
      assertThat(compactor.stats().passes() > 0)
          .as("the thread has run a compaction")
          .isEqualTo(times > 1);
      assertThat(requestsAtLast).isEqualTo(requestsAtFirst);
    }
  }

  private static void write(FasterStore store, int times) {
    try (LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (int i = 0; i < times * KEYS; i++) {
        session.upsert(i % KEYS, i, null);
      }
    }
  }

  /** Replaces a pause: no time passes between two pauses. */
  private void wakeUp(long nanos) {
    wakeUps++;
    if (wakeUps == SETTLED) {
      requestsAtFirst = requests.get();
    } else if (wakeUps == WAKE_UPS) {
      requestsAtLast = requests.get();
      isOver.countDown();
    }
  }

  private final class Counting implements ScriptedDevice.Script {
    @Override
    public void beforeWrite(long address, long bytes) {
      requests.incrementAndGet();
    }

    @Override
    public void beforeRead(long address, long bytes) {
      requests.incrementAndGet();
    }

    @Override
    public void beforeForce() {
      requests.incrementAndGet();
    }
  }
}
