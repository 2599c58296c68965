package io.fasterkv.device;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** A transfer whose caller waits for its end. Reporting the end allocates nothing. */
public final class AwaitedTransfer implements LogDevice.Completion {
  private final CountDownLatch end = new CountDownLatch(1);
  private @Nullable IOException failure;

  private AwaitedTransfer() {}

  /**
   * Writes all bytes and waits until the write has ended. An interrupt does not end the wait.
   *
   * @param device the device to write to
   * @param address where to write
   * @param source the bytes
   * @throws IOException if the write fails
   */
  public static void write(LogDevice device, long address, MemorySegment source)
      throws IOException {
    AwaitedTransfer transfer = new AwaitedTransfer();
    device.write(address, source, transfer);
    transfer.await();
  }

  @Override
  public synchronized void completed(@Nullable IOException cause) {
    if (end.getCount() > 0) {
      failure = cause;
      end.countDown();
    }
  }

  private void await() throws IOException {
    boolean isInterrupted = false;
    while (true) {
      try {
        end.await();
        break;
      } catch (InterruptedException e) {
        isInterrupted = true;
      }
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
    if (failure != null) {
      throw failure;
    }
  }
}
