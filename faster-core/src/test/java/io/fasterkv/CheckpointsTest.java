package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.checkpoint.CheckpointInfo;
import io.fasterkv.api.checkpoint.CheckpointInfo.FileInfo;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.session.SessionMode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that checkpoints of all kinds can be inspected without a store and without any change. */
@Tag("seeds")
class CheckpointsTest {
  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(3);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void dumpsTheContentsOfEachCheckpoint(long seed) throws IOException {
    SplittableRandom random = new SplittableRandom(seed);
    Map<Long, Map<Integer, byte[]>> held = new TreeMap<>();
    Map<Integer, byte[]> model = new HashMap<>();
    try (FasterStore store = FasterStore.open(config());
        ModelDriver driver =
            new ModelDriver(store, SessionMode.BLOCKING, random, model, seed).withLargeValues(20)) {
      for (CheckpointRequest request : CheckpointRequests.all()) {
        driver.someOperations(100);
        if (random.nextBoolean()) {
          store.log().compact();
        }
        long number = store.checkpoints().take(request).number();
        if (CheckpointRequests.hasLog(request)) {
          held.put(number, new HashMap<>(model));
        }
      }
    }
    Map<String, byte[]> before = contents();
    Checkpoints checkpoints = Checkpoints.of(directory);
    assertThat(checkpoints.tokens()).hasSize(CheckpointRequests.all().size());
    checkpoints.tokens().forEach(checkpoints::verify);
    held.forEach((number, expected) -> {
      Map<Integer, byte[]> dumped = new HashMap<>();
      checkpoints.dump(
          new CheckpointToken(number),
          record -> {
            int key = ByteBuffer.wrap(record.key().toArray()).getInt();
            assertThat(dumped.put(key, record.value().toArray())).isNull();
            assertThat(record.isDelta()).isFalse();
          });
      assertThat(dumped.keySet()).as("seed " + seed).isEqualTo(expected.keySet());
      dumped.forEach((key, value) ->
          assertThat(value)
              .as("seed " + seed + ", checkpoint " + number + ", key " + key)
              .isEqualTo(expected.get(key)));
    });
    assertThat(contents()).containsExactlyInAnyOrderEntriesOf(before);
  }

  @Test
  void describesCheckpoints() {
    List<CheckpointRequest> requests = CheckpointRequests.all();
    long end;
    try (FasterStore store = FasterStore.open(config());
        var session = store.newSession().spans(new BytesFunctions())) {
      for (CheckpointRequest request : requests) {
        session.upsert(ModelDriver.key(1), ByteSpan.of(new byte[9]), null);
        store.checkpoints().take(request);
      }
      end = store.log().tailAddress();
    }
    List<CheckpointInfo> infos = Checkpoints.of(directory).list();
    assertThat(infos)
        .extracting(CheckpointInfo::kind)
        .containsExactlyElementsOf(requests.stream().map(CheckpointRequest::kind).toList());
    for (int i = 0; i < infos.size(); i++) {
      CheckpointInfo info = infos.get(i);
      assertThat(info.token().number()).isEqualTo(i + 1);
      assertThat(info.recordKind()).isEqualTo(RecordKind.SPANS);
      assertThat(info.log().pageBytes()).isEqualTo(4096);
      long own = info.token().number();
      assertThat(info.index().imageOf()).isEqualTo(requests.get(i).withIndex() ? own : own - 1);
      assertThat(info.files()).extracting(FileInfo::bytes).doesNotContain(-1L);
      assertThat(info.files())
          .extracting(FileInfo::name)
          .contains("checkpoint-" + own + ".manifest");
    }
    assertThat(infos.getLast().log().end()).isEqualTo(end);
    assertThat(infos.getLast().log().deviceEnd()).isLessThan(end);
  }

  @Test
  void namesTheDamage() throws IOException {
    try (FasterStore store = FasterStore.open(config());
        var session = store.newSession().spans(new BytesFunctions())) {
      session.upsert(ModelDriver.key(1), ByteSpan.of(new byte[9]), null);
      store.checkpoints().take(CheckpointRequest.full(CheckpointKind.SNAPSHOT));
      store.checkpoints().take();
    }
    Checkpoints checkpoints = Checkpoints.of(directory);
    CheckpointToken first = new CheckpointToken(1);
    for (String name : List.of("checkpoint-1.snapshot", "checkpoint-1.index")) {
      Path file = directory.resolve(name);
      byte[] good = Files.readAllBytes(file);
      byte[] bad = good.clone();
      bad[100] ^= 1;
      Files.write(file, bad);
      assertThatThrownBy(() -> checkpoints.verify(first))
          .isInstanceOf(Corrupt.class)
          .hasMessageContaining(name)
          .hasMessageContaining("offset=");
      Files.write(file, good);
    }
    checkpoints.verify(first);
    Files.write(directory.resolve("checkpoint-1.manifest"), new byte[40]);
    assertThat(checkpoints.tokens()).hasSize(2);
    assertThat(checkpoints.list()).hasSize(1);
    assertThat(catchThrowable(() -> checkpoints.describe(first)))
        .isInstanceOf(Corrupt.class)
        .hasMessageContaining("checkpoint-1.manifest");
    assertThatThrownBy(() -> checkpoints.describe(new CheckpointToken(9)))
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining("number=9");
    assertThatThrownBy(() -> Checkpoints.of(directory.resolve("none")))
        .isInstanceOf(BadConfig.class);
  }

  @Test
  void anIndexAloneHasNoRecords() {
    try (FasterStore store = FasterStore.open(config())) {
      store.checkpoints().take(CheckpointRequest.indexOnly());
    }
    Checkpoints checkpoints = Checkpoints.of(directory);
    checkpoints.verify(new CheckpointToken(1));
    List<Object> dumped = new ArrayList<>();
    assertThatThrownBy(() -> checkpoints.dump(new CheckpointToken(1), dumped::add))
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining("INDEX_ONLY");
  }

  private Map<String, byte[]> contents() throws IOException {
    Map<String, byte[]> contents = new TreeMap<>();
    try (Stream<Path> paths = Files.list(directory)) {
      for (Path path : paths.toList()) {
        contents.put(path.getFileName().toString(), Files.readAllBytes(path));
      }
    }
    return contents;
  }

  private StoreConfig config() {
    return StoreConfig.builder(directory)
        .memoryBytes(1 << 20)
        .pageBytes(4096)
        .logMemoryBytes(16384)
        .indexBytes(32768)
        .scratchBytes(512 << 10)
        .segmentBytes(32768)
        .build();
  }
}
