package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that prefetching keys of all kinds changes nothing and does not read the disk. */
class SessionPrefetchTest {
  private static final int KEYS = 600;
  private static final int LONGEST_VALUE = 900;

  @TempDir Path directory;

  @Test
  void nothingIsChangedAndNoDiskIsRead() {
    StoreConfig config =
        StoreConfig.builder(directory.resolve("store"))
            .memoryBytes(192 << 10)
            .pageBytes(4 << 10)
            .build();
    try (FasterStore store = FasterStore.open(config);
        Session<byte[], BytesFunctions.Result, Object> session =
            store.newSession().spans(new BytesFunctions())) {
      for (int i = 0; i < KEYS; i++) {
        session.upsert(key(i), ByteSpan.of(value(i)), this);
        if (i % 7 == 0) {
          session.delete(key(i), this);
        }
      }
      assertThat(store.log().tailAddress()).isGreaterThan(config.memoryBytes());
      long serial = session.serial();
      long tail = store.log().tailAddress();
      long reads = store.statistics().index().recordsFromDisk();

      ByteSpan[] keys = new ByteSpan[2 * KEYS];
      Arrays.setAll(keys, SessionPrefetchTest::key);
      session.prefetch(keys, keys.length);
      session.prefetch(keys, 0);
      session.prefetch(new ByteSpan[0], 0);
      for (int count = 1; count < 100; count++) {
        session.prefetch(keys, count);
      }

      assertThat(session.serial()).isEqualTo(serial);
      assertThat(store.log().tailAddress()).isEqualTo(tail);
      assertThat(store.statistics().index().recordsFromDisk()).isEqualTo(reads);
      for (int i = 0; i < 2 * KEYS; i++) {
        BytesFunctions.Result read = new BytesFunctions.Result();
        boolean isThere = i < KEYS && i % 7 != 0;
        assertThat(session.read(key(i), null, read, this))
            .isEqualTo(isThere ? Status.FOUND : Status.NOT_FOUND);
        assertThat(read.value).isEqualTo(isThere ? value(i) : new byte[0]);
      }
    }
  }

  /** Every eighth key is too long to be prefetched. */
  private static ByteSpan key(int number) {
    return ByteSpan.of(ByteBuffer.allocate(number % 8 == 0 ? 70 : 9).putInt(number).array());
  }

  private static byte[] value(int number) {
    byte[] value = new byte[number * 37 % LONGEST_VALUE];
    Arrays.fill(value, (byte) number);
    return value;
  }
}
