package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures the throughput of one session, uniform RMWs of longs in memory, while the index doubles,
 * in windows of 50 ms, relative to before. {@code -Dresize.keys=} is the number of keys in
 * millions, 1 by default, {@code -Dresize.keysPerBucket=} how full the index is: with 16 its
 * buckets share entries. A control run without a resize comes first.
 */
@Tag("long")
@Timeout(value = 1, unit = TimeUnit.HOURS)
class ResizeThroughputTest {
  private static final int WINDOW_MILLIS = 50;
  private static final int WARM_UP_WINDOWS = 80;
  private static final int WINDOWS = 40;
  private static final int KEYS_PER_BUCKET = Integer.getInteger("resize.keysPerBucket", 4);
  private static final int BUCKET_BYTES = 64;

  private final int keys = Integer.getInteger("resize.keys", 1) << 20;
  private volatile long done;
  private volatile boolean isOver;

  @TempDir Path directory;

  @Test
  void throughputWhileTheIndexDoubles() throws Exception {
    long indexBytes = (long) keys / KEYS_PER_BUCKET * BUCKET_BYTES;
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(2 * indexBytes + 128L * keys)
            .indexBytes(indexBytes)
            .maxIndexBytes(2 * indexBytes)
            .logMemoryBytes(64L * keys)
            .recordKind(RecordKind.LONGS)
            .build();
    try (FasterStore store = FasterStore.open(config)) {
      load(store);
      Thread session = Thread.ofPlatform().start(() -> update(store));
      windows(WARM_UP_WINDOWS);
      double before = mean(windows(WINDOWS));
      report("control", before, windows(WINDOWS));
      Thread resize = Thread.ofPlatform().start(() -> store.index().grow());
      List<Long> during = new ArrayList<>();
      while (resize.isAlive()) {
        during.addAll(windows(1));
      }
      report("resize", before, during);
      report("after", before, windows(WINDOWS));
      isOver = true;
      session.join();
      assertThat(store.statistics().index().bytes()).isGreaterThanOrEqualTo(2 * indexBytes);
      assertThat(sum(store)).isEqualTo(done);
    }
  }

  private void load(FasterStore store) {
    try (LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (int key = 0; key < keys; key++) {
        session.upsert(key, 0, null);
      }
    }
  }

  private void update(FasterStore store) {
    try (LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      SplittableRandom random = new SplittableRandom(1);
      long count = 0;
      while (!isOver) {
        session.rmw(random.nextInt(keys), 1, null);
        count++;
        done = count;
      }
    }
  }

  private long sum(FasterStore store) {
    long sum = 0;
    try (LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (int key = 0; key < keys; key++) {
        session.read(key, null);
        sum += session.value();
      }
    }
    return sum;
  }

  /** Operations in each of some windows. */
  private List<Long> windows(int count) throws InterruptedException {
    List<Long> windows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long begin = done;
      Thread.sleep(WINDOW_MILLIS);
      windows.add(done - begin);
    }
    return windows;
  }

  private static double mean(List<Long> windows) {
    return windows.stream().mapToLong(Long::longValue).average().orElseThrow();
  }

  private static void report(String what, double before, List<Long> windows) {
    List<Long> sorted = windows.stream().sorted().toList();
    System.out.println(
        String.format(
            Locale.ROOT,
            "%s: %d windows, of before: least %.2f, 1 %% %.2f, 10 %% %.2f, median %.2f",
            what,
            sorted.size(),
            sorted.getFirst() / before,
            sorted.get(sorted.size() / 100) / before,
            sorted.get(sorted.size() / 10) / before,
            sorted.get(sorted.size() / 2) / before));
  }
}
