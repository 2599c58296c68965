package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.IoKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.session.SessionMode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests random operations, cuts, checkpoints, compactions, truncations, crashes and moves of memory
 * against a plain map, with pages of 4 KiB, a handful of them in memory, and an index of few
 * buckets. The seed is in the test's name; {@code -Dfaster.seed=N} replays it.
 */
@Tag("seeds")
class StoreModelTest {
  private static final int STEPS = 12_000;
  private static final int MAX_BUCKETS = 4_000;
  private static final Duration LONG = Duration.ofMinutes(1);

  /** Memory that the log has lent to the index is doubled with it. */
  private static final long MAX_INDEX_BYTES = 1 << 20;

  /** How long the test continues with new seeds. */
  private static final long RUN_NANOS =
      TimeUnit.SECONDS.toNanos(Integer.getInteger("faster.model.seconds", Seeds.part(60)));

  private static final Comparator<CheckpointToken> BY_NUMBER =
      Comparator.comparingLong(CheckpointToken::number);

  @TempDir Path directory;

  /** Tests one seed after another until the time is over, or only the given seed. */
  @Test
  void behavesAsAMap() throws IOException {
    long start = System.nanoTime();
    do {
      long seed = Seeds.fresh(1).findFirst().getAsLong();
      System.out.println("seed " + seed);
      run(seed, Files.createTempDirectory(directory, "seed-"));
    } while (!Seeds.isGiven() && System.nanoTime() - start < RUN_NANOS);
  }

  private static void run(long seed, Path directory) {
    try {
      behavesAsAMap(seed, directory);
    } catch (RuntimeException | Error e) {
      throw new AssertionError("replay with -Dfaster.seed=" + seed, e);
    }
  }

  private static void behavesAsAMap(long seed, Path directory) {
    SplittableRandom random = new SplittableRandom(seed);
    StoreConfig config = config(random, directory);
    SessionMode mode = random.nextBoolean() ? SessionMode.BLOCKING : SessionMode.PENDING;
    Map<Integer, byte[]> model = new HashMap<>();
    Map<CheckpointToken, Map<Integer, byte[]>> committed = new TreeMap<>(BY_NUMBER);
    FasterStore store = FasterStore.open(config);
    try {
      ModelDriver driver = new ModelDriver(store, mode, random, model, seed);
      for (int step = 0; step < STEPS; step++) {
        int dice = random.nextInt(10_000);
        if (dice < 10) {
          committed.put(store.checkpoints().take(), new HashMap<>(model));
          if (random.nextInt(3) == 0) {
            driver.someOperations(random.nextInt(50));
            driver.close();
            store.close();
            CheckpointToken token = random.nextInt(3) == 0 ? some(committed, random) : null;
            store =
                token == null ? FasterStore.recover(config) : FasterStore.recover(config, token);
            if (token != null) {
              committed.keySet().removeIf(later -> later.number() > token.number());
            }
            assertThat(store.checkpoints().list()).containsExactlyElementsOf(committed.keySet());
            model = new HashMap<>(committed.get(store.checkpoints().list().getLast()));
            driver = new ModelDriver(store, mode, random, model, seed);
            driver.checkAll();
            StoreInvariants.check(store);
          }
        } else if (dice < 14 && committed.size() > 1) {
          CheckpointToken token = some(committed, random);
          store.checkpoints().remove(token);
          committed.remove(token);
        } else if (dice < 24) {
          store.log().compact();
        } else if (dice < 28) {
          // Dropping the oldest part of a value changes it, and the model does not know by how
          // much.
          if (config.merge() == null) {
            driver.truncate();
          }
        } else if (dice < 45) {
          driver.checkCut();
        } else if (dice < 55) {
          driver.checkLive();
        } else if (dice < 75) {
          resize(store, random);
        } else if (dice < 78) {
          // On a thread of its own, while the next operations run.
          store.integration().releaseMemory(random.nextInt(1 << 16), LONG, released -> {});
        } else if (dice < 81) {
          store.integration().acceptLogMemory(random.nextInt(1 << 16));
          store.integration().acceptIndexMemory(random.nextInt(1 << 12));
        } else {
          driver.operation();
        }
      }
      driver.checkAll();
      StoreInvariants.check(store);
      driver.close();
    } finally {
      store.close();
    }
  }

  private static CheckpointToken some(
      Map<CheckpointToken, Map<Integer, byte[]>> committed, SplittableRandom random) {
    return List.copyOf(committed.keySet()).get(random.nextInt(committed.size()));
  }

  /** Doubles or halves the index. */
  private static void resize(FasterStore store, SplittableRandom random) {
    long buckets = Insides.engine(store).index().soleTable().mainBuckets();
    boolean mayGrow = buckets < MAX_BUCKETS && store.statistics().index().bytes() < MAX_INDEX_BYTES;
    if (mayGrow && (buckets % 2 != 0 || random.nextBoolean())) {
      store.index().grow();
    } else if (buckets % 2 == 0) {
      store.index().shrink();
    }
    StoreInvariants.check(store);
  }

  private static StoreConfig config(SplittableRandom random, Path directory) {
    long indexBytes = 64L << random.nextInt(2, 10);
    double[] fractions = {0, 0.25, 0.5, 0.9, 1};
    StoreConfigBuilder config =
        StoreConfig.builder(directory)
            .memoryBytes(8 << 20)
            .maxMemoryBytes(random.nextBoolean() ? 0 : (8 << 20) + random.nextInt(1 << 20))
            .pageBytes(4096)
            .logMemoryBytes(4096L << random.nextInt(2, 7))
            .indexBytes(Math.max(256, indexBytes))
            .segmentBytes(16384)
            .mutableFraction(fractions[random.nextInt(fractions.length)])
            .directIo(random.nextBoolean())
            .ioKind(random.nextBoolean() ? IoKind.AUTO : IoKind.FILE)
            .logHalvings(random.nextInt(3));
    return (random.nextBoolean() ? config.merge(new BytesFunctions()) : config).build();
  }
}
