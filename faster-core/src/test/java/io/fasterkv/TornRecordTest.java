package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.device.memory.MemoryDevice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.io.TempDir;

/** Tests a thread whose stack overflows between allocating a record and filling it. */
class TornRecordTest {
  private static final int PAGE_BYTES = 4096;

  @TempDir Path directory;

  private final List<Integer> written = new ArrayList<>();
  private int next;

  /** The records after the abandoned one on its page are not lost. */
  @RepeatedTest(5)
  void noRecordAfterAnEmptyOneIsDropped() {
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(4 << 20)
            .indexBytes(16 << 10)
            .logMemoryBytes(16L * PAGE_BYTES)
            .pageBytes(PAGE_BYTES)
            .build();
    try (FasterStore store = FasterStore.open(config, new MemoryDevice())) {
      try (var session = store.newSession().spans(StoppingSum.plain())) {
        // Classes and lambdas that are not linked yet would fail permanently.
        for (int i = 0; i < 300; i++) {
          upsert(session);
        }
        int overflows = Stacks.overflow(() -> upsert(session), () -> upsert(session));
        assertThat(overflows).isPositive();
        for (int i = 0; i < 100; i++) {
          upsert(session);
        }
        store.log().cut().close();
        store.checkpoints().take();
        store.log().compact();
        for (int key : written) {
          assertThat(session.read(key(key), 0L, new long[1], null))
              .as("key %s of %s", key, next)
              .isEqualTo(Status.FOUND);
        }
      }
    }
  }

  private void upsert(Session<Long, long[], Object> session) {
    int key = next++;
    session.upsert(key(key), ByteSpan.of(new byte[] {1, 0, 0, 0, 0, 0, 0, 0}), null);
    written.add(key);
  }

  private static ByteSpan key(int key) {
    return HashedKeys.key(key * 0x9E3779B97F4A7C15L, key);
  }
}
