package io.fasterkv;

import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.sim.ScriptedDevice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests a device that reports its transfers late, in any order, and some of them twice. */
@Tag("seeds")
class ReorderedCompletionTest {
  private static final int OPERATIONS = 8000;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(4);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void theStoreIsAMapAllTheSame(long seed) throws InterruptedException {
    SplittableRandom random = new SplittableRandom(seed);
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(1 << 20)
            .pageBytes(4096)
            .logMemoryBytes(4096L << random.nextInt(2, 4))
            .indexBytes(4096)
            .build();
    SessionMode mode = random.nextBoolean() ? SessionMode.BLOCKING : SessionMode.PENDING;
    MemoryDevice memory = new MemoryDevice();
    ScriptedDevice device = new ScriptedDevice(memory);
    Shuffle shuffle = new Shuffle(random.split());
    Map<Integer, byte[]> model = new HashMap<>();
    Thread completer = Thread.ofPlatform().daemon().start(shuffle::run);
    try (FasterStore store = FasterStore.open(config, device)) {
      device.setScript(shuffle);
      try (ModelDriver driver = new ModelDriver(store, mode, random, model, seed)) {
        driver.someOperations(OPERATIONS);
        driver.checkCut();
        driver.checkAll();
        store.checkpoints().take();
      }
      StoreInvariants.check(store);
    } finally {
      shuffle.end();
      completer.join();
    }
    try (FasterStore store = FasterStore.recover(config, new CheckpointToken(1), memory);
        ModelDriver driver = new ModelDriver(store, mode, random, model, seed)) {
      driver.checkAll();
    }
  }

  /** Reports one transfer after another, on a thread of its own, in random order. */
  private static final class Shuffle implements ScriptedDevice.Script {
    private final List<Runnable> kept = new ArrayList<>();
    private final SplittableRandom random;
    private boolean isOver;

    Shuffle(SplittableRandom random) {
      this.random = random;
    }

    @Override
    public synchronized void complete(Runnable completion) {
      kept.add(completion);
      notifyAll();
    }

    synchronized void end() {
      isOver = true;
      notifyAll();
    }

    void run() {
      while (awaitSome()) {
        // Other transfers may arrive in the meantime and be reported first.
        Thread.yield();
        next().run();
      }
    }

    private synchronized boolean awaitSome() {
      try {
        while (kept.isEmpty() && !isOver) {
          wait();
        }
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      return !kept.isEmpty();
    }

    private synchronized Runnable next() {
      int index = random.nextInt(kept.size());
      return random.nextInt(4) == 0 ? kept.get(index) : kept.remove(index);
    }
  }
}
