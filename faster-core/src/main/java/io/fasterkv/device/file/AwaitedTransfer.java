package io.fasterkv.device.file;

import io.fasterkv.device.LogDevice;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** A transfer whose caller waits for its end. Reporting the end allocates nothing. */
public final class AwaitedTransfer implements LogDevice.Completion {
  /** Moves bytes. */
  @FunctionalInterface
  public interface Transfer {
    /**
     * Moves the bytes.
     *
     * @throws IOException if that fails
     */
    void run() throws IOException;
  }

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

  /**
   * Starts a transfer. It ends whatever happens, even if it cannot begin.
   *
   * @param threads runs the transfer
   * @param transfer moves the bytes
   * @return the transfer
   */
  public static AwaitedTransfer start(Executor threads, Transfer transfer) {
    AwaitedTransfer started = new AwaitedTransfer();
    TransferJob.submit(threads, transfer, started);
    return started;
  }

  @Override
  public synchronized void completed(@Nullable IOException cause) {
    if (end.getCount() > 0) {
      failure = cause;
      end.countDown();
    }
  }

  /**
   * Waits until the transfer has ended. An interrupt does not end the wait.
   *
   * @throws IOException if the transfer has failed
   */
  public void await() throws IOException {
    awaitEnd();
    if (failure != null) {
      throw failure;
    }
  }

  /**
   * Waits until the transfer has ended, successfully or not. An interrupt does not end the wait.
   */
  public void awaitEnd() {
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
  }
}
