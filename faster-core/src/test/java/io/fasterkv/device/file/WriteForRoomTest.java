package io.fasterkv.device.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.Insides;
import io.fasterkv.LongSession;
import io.fasterkv.Pause;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that a thread that waits for a page writes pages itself if the device's threads are not
 * scheduled.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WriteForRoomTest {
  private static final int PAGE_BYTES = 4096;
  private static final int KEYS = 20 * PAGE_BYTES / 24;

  /** Above all addresses that the store writes. */
  private static final long FAR = 1L << 30;

  @TempDir Path directory;

  @Test
  void sessionsContinueWhileTheThreadsOfTheDeviceAreBlocked() throws IOException {
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(1 << 20)
            .logMemoryBytes(8 * PAGE_BYTES)
            .pageBytes(PAGE_BYTES)
            .recordKind(RecordKind.LONGS)
            .build();
    CountDownLatch standing = new CountDownLatch(FileDevice.WRITERS);
    CountDownLatch mayContinue = new CountDownLatch(1);
    FileDevice device = new FileDevice(Files.createDirectory(directory.resolve("files")), 1L << 20);
    try (FasterStore store = FasterStore.open(config, device);
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      try {
        MemorySegment bytes = MemorySegment.ofArray(new byte[PAGE_BYTES]);
        for (int i = 0; i < FileDevice.WRITERS; i++) {
          device.write(
              FAR,
              bytes,
              failure -> {
                standing.countDown();
                Pause.await(mayContinue);
              });
        }
        Pause.await(standing);
        for (int key = 0; key < KEYS; key++) {
          session.rmw(key, key, null);
        }
        assertThat(Insides.engine(store).log().headAddress()).isGreaterThan(10L * PAGE_BYTES);
        for (int key = 0; key < KEYS; key++) {
          session.read(key, null);
          assertThat(session.value()).as("key " + key).isEqualTo(key);
        }
      } finally {
        mayContinue.countDown();
      }
    }
  }
}
