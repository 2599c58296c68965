package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.sim.SimulatedDisk;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests a store with checkpoints of all kinds that build on each other, one file of which is then
 * cut off, deleted, or has a wrong bit. Each checkpoint is recovered exactly or refused with the
 * name of that file; a recovery that may fall back gets an intact older checkpoint exactly, if
 * there is one.
 */
@Tag("seeds")
class CorruptKindsTest {
  private static final int WRONG_BITS = 4;

  private final Map<Long, Map<Integer, byte[]>> held = new TreeMap<>();
  private long seed;

  static LongStream seeds() {
    return Seeds.fresh(3);
  }

  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void neverGivesPartOfACheckpoint(long given) {
    seed = given;
    SplittableRandom random = new SplittableRandom(seed);
    SimulatedDisk disk = new SimulatedDisk();
    fill(disk, random);
    int refused = 0;
    for (String name : disk.names()) {
      byte[] good = disk.content(name);
      for (int round = 0; round < WRONG_BITS; round++) {
        byte[] bad = good.clone();
        bad[random.nextInt(bad.length)] ^= (byte) (1 << random.nextInt(8));
        refused += check(disk, name, bad, random);
      }
      refused += check(disk, name, Arrays.copyOf(good, random.nextInt(good.length)), random);
      refused += check(disk, name, new byte[0], random);
    }
    assertThat(refused).as("seed " + seed).isPositive();
  }

  private void fill(SimulatedDisk disk, SplittableRandom random) {
    Map<Integer, byte[]> model = new HashMap<>();
    try (FasterStore store = FasterStore.open(config(disk));
        ModelDriver driver =
            new ModelDriver(store, SessionMode.BLOCKING, random, model, seed).withLargeValues(50)) {
      for (CheckpointRequest request : CheckpointRequests.all()) {
        driver.someOperations(60);
        long number = store.checkpoints().take(request).number();
        if (CheckpointRequests.hasLog(request)) {
          held.put(number, new HashMap<>(model));
        }
      }
    }
  }

  /** Returns how many checkpoints were refused. */
  private int check(SimulatedDisk disk, String name, byte[] bad, SplittableRandom random) {
    List<Long> numbers = List.copyOf(held.keySet());
    // A checkpoint certainly needs its own files.
    long owner = name.startsWith("log.") ? 0 : Long.parseLong(name.replaceAll("\\D", ""));
    boolean isNeeded = held.containsKey(owner);
    long number = isNeeded ? owner : numbers.get(random.nextInt(numbers.size()));
    SimulatedDisk broken = disk.copy();
    broken.put(name, bad);
    RecoveryRequest request = RecoveryRequest.of(new CheckpointToken(number));
    boolean isRecovered = recover(broken, name, number, request);
    assertThat(isNeeded && isRecovered).as(title(name, number)).isFalse();
    boolean mayFallBack = isRecovered || fallsBack(broken, name, number, request);
    assertThat(mayFallBack).as("seed " + seed).isTrue();
    return isRecovered ? 0 : 1;
  }

  private boolean recover(SimulatedDisk disk, String name, long number, RecoveryRequest request) {
    SimulatedDisk own = disk.copy();
    try (FasterStore store = FasterStore.recover(config(own), request)) {
      checkAll(store, number, name);
      return true;
    } catch (Corrupt e) {
      assertThat(e).as(title(name, number)).hasMessageContaining(name);
      return false;
    }
  }

  private boolean fallsBack(SimulatedDisk disk, String name, long number, RecoveryRequest request) {
    SimulatedDisk own = disk.copy();
    try (FasterStore store = FasterStore.recover(config(own), request.fallingBack())) {
      List<CheckpointToken> kept = store.checkpoints().list();
      long reached =
          kept.stream()
              .mapToLong(CheckpointToken::number)
              .filter(held::containsKey)
              .max()
              .orElseThrow();
      assertThat(reached).as(title(name, number)).isLessThan(number);
      checkAll(store, reached, name);
      return true;
    } catch (Corrupt e) {
      // The file is one that all of them need.
      assertThat(e).as(title(name, number)).hasMessageContaining(name);
      return held.keySet().stream()
          .filter(older -> older < number)
          .noneMatch(
              older -> recover(disk, name, older, RecoveryRequest.of(new CheckpointToken(older))));
    }
  }

  private void checkAll(FasterStore store, long number, String name) {
    try (ModelDriver driver =
        new ModelDriver(
            store, SessionMode.BLOCKING, new SplittableRandom(seed), held.get(number), seed)) {
      driver.checkAll();
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError(title(name, number), e);
    }
  }

  private String title(String name, long number) {
    return "seed " + seed + ", file " + name + ", checkpoint " + number;
  }

  private static StoreConfig config(SimulatedDisk disk) {
    return StoreConfig.builder(disk.directory())
        .memoryBytes(1 << 20)
        .pageBytes(4096)
        .logMemoryBytes(16384)
        .indexBytes(16384)
        .segmentBytes(16384)
        .scratchBytes(256 << 10)
        .build();
  }
}
