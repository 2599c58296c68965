package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that a checkpoint with a wrong byte or cut off at any place is refused with file name and
 * offset.
 */
@Tag("seeds")
class CorruptCheckpointTest {
  private static final int KEYS = 500;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(4);
  }

  @BeforeEach
  void takeCheckpoint() {
    try (FasterStore store = FasterStore.open(config());
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (int key = 0; key < KEYS; key++) {
        session.rmw(key, key + 1, null);
      }
      store.checkpoints().take();
    }
  }

  @Test
  void recoversWhenNothingIsWrong() {
    assertRecovers();
  }

  private void assertRecovers() {
    try (FasterStore store = FasterStore.recover(config());
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (int key = 0; key < KEYS; key++) {
        assertThat(session.read(key, null)).isEqualTo(Status.FOUND);
        assertThat(session.value()).isEqualTo(key + 1);
      }
    }
  }

  @Test
  void refusesEveryWrongByteOfTheManifest() throws IOException {
    Path manifest = directory.resolve("checkpoint-1.manifest");
    byte[] good = Files.readAllBytes(manifest);
    for (int at = 0; at < good.length; at++) {
      byte[] bad = good.clone();
      bad[at] ^= 0x10;
      Files.write(manifest, bad);
      assertRefused("byte " + at, manifest);
    }
    for (int length = 0; length < good.length; length++) {
      Files.write(manifest, Arrays.copyOf(good, length));
      assertRefused("length " + length, manifest);
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void refusesWrongBytesOfIndexAndLog(long seed) throws IOException {
    SplittableRandom random = new SplittableRandom(seed);
    for (Path file : files()) {
      byte[] good = Files.readAllBytes(file);
      for (int round = 0; round < 40; round++) {
        byte[] bad = good.clone();
        bad[random.nextInt(good.length)] ^= (byte) (1 << random.nextInt(8));
        Files.write(file, bad);
        assertRefused("seed " + seed + " " + file, file);
      }
      for (int round = 0; round < 10; round++) {
        Files.write(file, Arrays.copyOf(good, random.nextInt(good.length)));
        assertRefused("seed " + seed + " " + file, file);
      }
      Files.write(file, good);
    }
  }

  @Test
  void refusesAMissingFile() throws IOException {
    for (Path file : files()) {
      byte[] good = Files.readAllBytes(file);
      Files.delete(file);
      assertRefused("missing " + file, file);
      Files.write(file, good);
    }
  }

  @Test
  void doesNotStartAfreshOverACheckpoint() {
    assertThat(catchThrowable(() -> FasterStore.open(config()).close()))
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining("newest=1");
  }

  @Test
  void ignoresACheckpointThatDidNotGetToItsEnd() throws IOException {
    Files.write(directory.resolve("checkpoint-2.manifest.tmp"), new byte[] {1, 2, 3});
    Files.write(directory.resolve("checkpoint-2.index"), new byte[] {1, 2, 3});
    assertRecovers();
    try (FasterStore store = FasterStore.recover(config())) {
      assertThat(store.checkpoints().take().number()).isEqualTo(2);
    }
    assertRecovers();
  }

  /** Index image and log segments. */
  private List<Path> files() throws IOException {
    try (Stream<Path> paths = Files.list(directory)) {
      List<Path> files =
          paths.filter(path -> !path.toString().endsWith(".manifest")).sorted().toList();
      assertThat(files).hasSizeGreaterThan(2);
      return files;
    }
  }

  private void assertRefused(String what, Path file) {
    Throwable refusal = catchThrowable(() -> FasterStore.recover(config()).close());
    assertThat(refusal).as(what).isInstanceOf(Corrupt.class);
    assertThat(refusal).as(what).hasMessageContaining(file.getFileName().toString());
    if (Files.exists(file)) {
      assertThat(refusal).as(what).hasMessageContaining("offset=");
    }
  }

  private StoreConfig config() {
    return StoreConfig.builder(directory)
        .memoryBytes(1 << 19)
        .recordKind(RecordKind.LONGS)
        .pageBytes(4096)
        .logMemoryBytes(16384)
        .indexBytes(16384)
        .segmentBytes(8192)
        .build();
  }
}
