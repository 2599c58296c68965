package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that compaction prefetches the buckets of many records before it looks them up. */
class CompactionPrefetchTest {
  private static final int KEYS = 2_000;
  private static final int VALUE_BYTES = 100;

  @TempDir Path directory;

  private final LongAdder hashed = new LongAdder();

  @Test
  void eachRecordIsTouchedAndLookedUp() {
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(1 << 20)
            .logMemoryBytes(8 * 4096)
            .pageBytes(4096)
            .segmentBytes(4 * 4096)
            .indexBytes(32 << 10)
            .keyHash((memory, offset, length) -> {
              hashed.increment();
              return memory.get(ValueLayout.JAVA_INT_UNALIGNED, offset) * 0x9E37_79B9_7F4A_7C15L;
            })
            .deleteOnClose(true)
            .build();
    try (FasterStore store = FasterStore.open(config);
        Session<byte[], BytesFunctions.Result, Object> session =
            store.newSession().spans(new BytesFunctions())) {
      Insides.compactor(store).weighChains(0);
      ByteSpan value = ByteSpan.of(new byte[VALUE_BYTES]);
      for (int key = 0; key < KEYS; key++) {
        session.upsert(key(key), value, null);
      }
      store.log().cut().close();
      hashed.reset();

      assertThat(store.log().compact()).isPositive();

      long moved = store.statistics().compaction().movedRecords();
      assertThat(moved).isBetween(KEYS / 2L, (long) KEYS);
      assertThat(hashed.sum()).isEqualTo(2 * moved);
      for (int key = 0; key < KEYS; key++) {
        BytesFunctions.Result result = new BytesFunctions.Result();
        assertThat(session.read(key(key), null, result, null)).isEqualTo(Status.FOUND);
        assertThat(result.value).hasSize(VALUE_BYTES);
      }
    }
  }

  private static ByteSpan key(int key) {
    return ByteSpan.of(ByteBuffer.allocate(Integer.BYTES).putInt(key).array());
  }
}
