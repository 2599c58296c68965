package io.fasterkv.bench.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs small stores on a real disk; the reads check their own results. */
class DiskRunTest {
  @TempDir private Path directory;

  private DiskPlan plan() {
    return new DiskPlan(32 << 20, 500, 8, Duration.ofMillis(50), 1, directory);
  }

  @Test
  void recordsAreReadFromDisk() {
    try (RandomReads reads = new RandomReads(plan())) {
      assertThat(reads.slice()).isPositive();
    }
  }

  @Test
  void blindUpdatesReachTheDisk() throws IOException {
    try (LogWrites writes = new LogWrites(plan(), 2)) {
      assertThat(writes.slice()).isNotNegative();
    }
  }
}
