package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.DiskFull;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.device.NoSpaceException;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.sim.DelegatingDevice;
import io.fasterkv.spi.StoreExport;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that a full disk loses nothing: random operations against a model, and concurrent threads,
 * with a disk that is sometimes full.
 */
@Timeout(120)
@Tag("seeds")
class FullDiskTest extends FullDiskStores {
  static LongStream seeds() {
    return Seeds.fresh(4);
  }

  /**
   * Runs operations while there is no space, with checkpoints that fail in between: memory has the
   * effects of all operations, and each recovery finds the last complete checkpoint.
   */
  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void nothingIsLostWhenTheDiskWasFull(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<Integer, byte[]> model = new HashMap<>();
    Map<Integer, byte[]> committed = new HashMap<>();
    int failed = 0;
    for (int generation = 0; generation < 3; generation++) {
      model = new HashMap<>(committed);
      StoreConfig config =
          config(RecordKind.SPANS).backgroundCompaction(random.nextBoolean()).build();
      disk.setFaults(space);
      try (FasterStore store =
              CheckpointNames.newest(disk) == 0
                  ? FasterStore.open(config)
                  : FasterStore.recover(config);
          ModelDriver driver =
              new ModelDriver(store, SessionMode.PENDING, random.split(), model, seed)) {
        driver.withLargeValues(random.nextBoolean() ? 20 : 0).checkAll();
        for (int round = 0; round < 5; round++) {
          space.refuse(random.nextInt(5), "log.");
          driver.someOperations(random.nextInt(600));
          space.refuse(FOR_EVER, random.nextBoolean() ? "log." : "");
          failed += tryCheckpoint(store, random) ? 0 : 1;
          space.refuse(random.nextInt(5), "log.");
          driver.someOperations(random.nextInt(300));
          driver.checkAll();
          space.refuse(0, "");
          store.checkpoints().take(request(random));
          committed = new HashMap<>(model);
          if (!config.backgroundCompaction()) {
            StoreInvariants.check(store);
          }
        }
        space.refuse(random.nextInt(5), "log.");
        driver.someOperations(random.nextInt(300));
        space.refuse(0, "");
      }
    }
    assertThat(failed).as("seed " + seed).isPositive();
    try (FasterStore store = FasterStore.recover(config(RecordKind.SPANS).build());
        ModelDriver driver =
            new ModelDriver(store, SessionMode.BLOCKING, random, committed, seed)) {
      driver.checkAll();
      StoreInvariants.check(store);
    }
  }

  private boolean tryCheckpoint(FasterStore store, SplittableRandom random) {
    Throwable thrown = catchThrowable(() -> store.checkpoints().take(request(random)));
    if (thrown != null) {
      assertThat(thrown)
          .isInstanceOf(DiskFull.class)
          .hasMessageContaining("No space left on device")
          .hasMessageContaining("file=");
    }
    return thrown == null;
  }

  private static CheckpointRequest request(SplittableRandom random) {
    CheckpointKind kind = random.nextBoolean() ? CheckpointKind.FOLD_OVER : CheckpointKind.SNAPSHOT;
    return random.nextBoolean()
        ? CheckpointRequest.full(kind)
        : new CheckpointRequest(kind, random.nextBoolean());
  }

  /**
   * Sessions on several threads, with checkpoints and exports, and a disk that is sometimes full.
   */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void noIncrementIsLostWhenTheDiskIsFullNowAndThen(long seed) {
    int writers = 3;
    int keys = 2000;
    int rounds = 12;
    try (FasterStore store = open(config(RecordKind.LONGS).backgroundCompaction(true))) {
      Crew crew = new Crew("seed " + seed, () -> Insides.engine(store).log().toString());
      for (int writer = 0; writer < writers; writer++) {
        crew.add(() -> {
          try (LongSession<Object> session = session(store)) {
            for (int round = 0; round < rounds; round++) {
              for (int key = 0; key < keys; key++) {
                session.rmw(key, 1, null);
              }
            }
          }
        });
      }
      crew.add(() -> {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 20; i++) {
          if (i % 2 == 0) {
            tryCheckpoint(store, random);
          } else {
            tryExport(store);
          }
          Thread.sleep(random.nextInt(20));
        }
      });
      crew.add(() -> {
        SplittableRandom random = new SplittableRandom(seed + 1);
        for (int i = 0; i < 15; i++) {
          space.refuse(FOR_EVER, "log.");
          Thread.sleep(random.nextInt(60));
          space.refuse(0, "");
          Thread.sleep(random.nextInt(20));
        }
      });
      crew.run();
      assertSums(store, keys, (long) writers * rounds);
      store.checkpoints().take();
    }
    try (FasterStore store = FasterStore.recover(config(RecordKind.LONGS).build())) {
      assertSums(store, keys, (long) writers * rounds);
      StoreInvariants.check(store);
    }
  }

  private static void tryExport(FasterStore store) {
    try (StoreExport export = store.integration().export()) {
      Throwable thrown = catchThrowable(export::awaitWritten);
      if (thrown != null) {
        assertThat(thrown).isInstanceOf(DiskFull.class);
      }
    }
  }

  private static void assertSums(FasterStore store, int keys, long sum) {
    try (LongSession<Object> session = session(store)) {
      for (int key = 0; key < keys; key++) {
        assertThat(session.read(key, null)).isEqualTo(Status.FOUND);
        assertThat(session.value()).as("key " + key).isEqualTo(sum);
      }
    }
  }

  /**
   * A caller's device reports a full disk by the type of the exception; any other exception is
   * permanent.
   */
  @ParameterizedTest
  @EnumSource(Loss.class)
  void theModelCatchesAWriteThatIsForgotten(Loss loss) {
    LossyDevice device = new LossyDevice(loss);
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(1 << 20)
            .logMemoryBytes(4 * PAGE_BYTES)
            .pageBytes(PAGE_BYTES)
            .recordKind(RecordKind.LONGS)
            .build();
    try (FasterStore store = FasterStore.open(config, device);
        LongSession<Object> session = session(store)) {
      Throwable thrown =
          catchThrowable(() -> {
            add(session, 0, 5000);
            assertHas(session, 5000);
            store.checkpoints().take();
          });
      if (loss == Loss.NONE) {
        assertThat(thrown).isNull();
      } else {
        assertThat(thrown).isNotNull();
      }
    }
  }

  private enum Loss {
    /** A write without space is refused. */
    NONE,
    /** The write is reported as successful, as by a flusher that forgets it. */
    FORGOTTEN
  }

  /** Refuses one write in three for lack of space. */
  private static final class LossyDevice extends DelegatingDevice {
    private final Loss loss;
    private int writes;

    LossyDevice(Loss loss) {
      super(new MemoryDevice());
      this.loss = loss;
    }

    @Override
    public void write(long address, MemorySegment source, Completion completion) {
      boolean isWithout;
      synchronized (this) {
        isWithout = ++writes % 3 == 0;
      }
      if (isWithout) {
        completion.completed(
            loss == Loss.FORGOTTEN ? null : new NoSpaceException(new IOException("quota")));
      } else {
        device.write(address, source, completion);
      }
    }

    @Override
    public void force() {}
  }
}
