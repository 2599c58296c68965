package io.fasterkv.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.Pause;
import io.fasterkv.Stacks;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FileDeviceFailureTest {
  private static final int BYTES = 4096;
  private static final int WRITES = 3000;

  @TempDir Path directory;

  /** A thread takes a write out of the queue and then has no stack to perform it. */
  @Test
  void aWriteIsNeverLostBetweenTheQueueAndAThreadAtTheEndOfItsStack() throws Exception {
    CountDownLatch standing = new CountDownLatch(FileDevice.WRITERS);
    CountDownLatch mayGoOn = new CountDownLatch(1);
    AtomicInteger ended = new AtomicInteger();
    AtomicInteger failed = new AtomicInteger();
    CountDownLatch all = new CountDownLatch(WRITES);
    MemorySegment bytes = MemorySegment.ofArray(new byte[BYTES]);
    try (FileDevice device = new FileDevice(directory, 1L << 24)) {
      try {
        for (int i = 0; i < FileDevice.WRITERS; i++) {
          device.write(
              0,
              bytes,
              failure -> {
                standing.countDown();
                Pause.await(mayGoOn);
              });
        }
        Pause.await(standing);
        for (int i = 0; i < WRITES; i++) {
          device.write(
              0,
              bytes,
              failure -> {
                ended.incrementAndGet();
                if (failure != null) {
                  failed.incrementAndGet();
                }
                all.countDown();
              });
        }
        assertThat(Stacks.overflow(device::writeOne, () -> {})).isPositive();
        assertThat(ended.get()).as("written by the thread").isPositive();
      } finally {
        mayGoOn.countDown();
      }
      assertThat(all.await(60, TimeUnit.SECONDS)).as("left: " + all.getCount()).isTrue();
      assertThat(ended.get()).isEqualTo(WRITES);
      assertThat(failed.get()).isZero();
    }
  }

  @Test
  void aTransferThatThrowsAnErrorIsToldOfAsAFailure() throws Exception {
    try (FileDevice device = new FileDevice(directory, 1L << 24)) {
      CountDownLatch told = new CountDownLatch(1);
      IOException[] failures = new IOException[1];
      MemorySegment closed = closed();
      device.write(
          0,
          closed,
          failure -> {
            failures[0] = failure;
            told.countDown();
          });
      Pause.await(told);
      assertThat(failures[0]).hasCauseInstanceOf(IllegalStateException.class);
    }
  }

  private static MemorySegment closed() {
    try (var arena = java.lang.foreign.Arena.ofShared()) {
      return arena.allocate(BYTES);
    }
  }
}
