package io.fasterkv.bench.profile;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.LongSession;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.config.StoreConfig;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecorderTest {
  @TempDir Path directory;

  @Tag("slow")
  @Test
  void theFramesOfTheStoreAreFound() throws Exception {
    HotFrames found;
    try (Recorder recorder = Recorder.start(directory.resolve("profiles/run.jfr"))) {
      useStore();
      found = recorder.stop();
    }
    assertThat(directory.resolve("profiles/run.jfr")).isNotEmptyFile();
    assertThat(found.samples()).isPositive();
    assertThat(found.frames())
        .isNotEmpty()
        .isSortedAccordingTo((a, b) -> Double.compare(b.share(), a.share()));
    assertThat(found.frames())
        .allSatisfy(frame -> {
          assertThat(frame.method()).doesNotContain("0x", "bench.");
          assertThat(frame.selfShare()).isLessThanOrEqualTo(frame.share());
        });
  }

  private void useStore() {
    StoreConfig config =
        StoreConfig.builder(directory.resolve("store"))
            .memoryBytes(16 << 20)
            .recordKind(StoreConfig.RecordKind.LONGS)
            .build();
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(1500);
    try (FasterStore store = FasterStore.open(config);
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (long key = 0; System.nanoTime() < end; key++) {
        session.rmw(key % 10_000, 1, null);
      }
    }
  }
}
