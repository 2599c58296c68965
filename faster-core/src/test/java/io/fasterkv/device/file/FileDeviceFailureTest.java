package io.fasterkv.device.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.Pause;
import io.fasterkv.Stacks;
import io.fasterkv.sim.DiskFaults;
import io.fasterkv.sim.SimulatedDisk;
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

  /** A thread takes a write from the queue and then has no stack left to perform it. */
  @Test
  void aWriteIsNeverLostBetweenTheQueueAndAThreadAtTheEndOfItsStack() throws Exception {
    CountDownLatch standing = new CountDownLatch(FileDevice.WRITERS);
    CountDownLatch mayContinue = new CountDownLatch(1);
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
                Pause.await(mayContinue);
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
        mayContinue.countDown();
      }
      assertThat(all.await(60, TimeUnit.SECONDS)).as("left: " + all.getCount()).isTrue();
      assertThat(ended.get()).isEqualTo(WRITES);
      assertThat(failed.get()).isZero();
    }
  }

  /**
   * The second force reported success, although the operating system may have dropped the bytes.
   */
  @Test
  void aForceAfterOneThatFailedFailsToo() throws Exception {
    SimulatedDisk disk = new SimulatedDisk();
    try (FileDevice device = new FileDevice(disk.directory(), 1L << 24)) {
      CountDownLatch written = new CountDownLatch(1);
      device.write(0, MemorySegment.ofArray(new byte[BYTES]), failure -> written.countDown());
      Pause.await(written);
      disk.setFaults(
          new DiskFaults() {
            @Override
            public void beforeForce(String file) throws IOException {
              throw new IOException("Input/output error");
            }
          });
      assertThatThrownBy(device::force).hasMessage("Input/output error");
      disk.setFaults(DiskFaults.NONE);
      assertThatThrownBy(device::force)
          .hasMessageContaining("directory=")
          .hasRootCauseMessage("Input/output error");
    }
  }

  @Test
  void aTransferThatThrowsAnErrorIsReportedAsAFailure() throws Exception {
    try (FileDevice device = new FileDevice(directory, 1L << 24)) {
      CountDownLatch reported = new CountDownLatch(1);
      IOException[] failures = new IOException[1];
      MemorySegment closed = closed();
      device.write(
          0,
          closed,
          failure -> {
            failures[0] = failure;
            reported.countDown();
          });
      Pause.await(reported);
      assertThat(failures[0]).hasCauseInstanceOf(IllegalStateException.class);
    }
  }

  private static MemorySegment closed() {
    try (var arena = java.lang.foreign.Arena.ofShared()) {
      return arena.allocate(BYTES);
    }
  }
}
