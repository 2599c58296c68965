package io.fasterkv.device.file;

import io.fasterkv.device.LogDevice;
import io.fasterkv.state.StoreFailure;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A transfer that runs on a thread of a device. It reports its end to a completion, whatever the
 * outcome. An executor may throw an error after it has queued a job, if no stack or no thread is
 * left. So a job is claimed once: by the thread that runs it, or by the caller, which then reports
 * a failure. The memory of a transfer is not touched after its end was reported.
 */
public final class TransferJob implements Runnable {
  private final AwaitedTransfer.Transfer transfer;
  private final LogDevice.Completion completion;
  private final AtomicBoolean isClaimed = new AtomicBoolean();

  private TransferJob(AwaitedTransfer.Transfer transfer, LogDevice.Completion completion) {
    this.transfer = transfer;
    this.completion = completion;
  }

  /** Runs a transfer on the threads of a device. */
  public static void submit(
      Executor threads, AwaitedTransfer.Transfer transfer, LogDevice.Completion completion) {
    @Nullable TransferJob job = null;
    try {
      job = new TransferJob(transfer, completion);
      threads.execute(job);
    } catch (RejectedExecutionException e) {
      report(completion, new IOException("the device is closed", e));
    } catch (Throwable e) {
      if (job == null) {
        report(completion, StoreFailure.asIoException(e));
      } else {
        job.cannotRun(e);
      }
    }
  }

  /** Reports a failure, unless the job has run or is running. */
  void cannotRun(Throwable cause) {
    if (claim()) {
      report(completion, StoreFailure.asIoException(cause));
    }
  }

  /**
   * Reports an end. If a completion throws, it receives a second report with what it threw; it
   * ignores that if it has recorded the first one.
   */
  private static void report(LogDevice.Completion completion, @Nullable IOException failure) {
    try {
      completion.completed(failure);
    } catch (Throwable e) {
      completion.completed(StoreFailure.asIoException(e));
      throw e;
    }
  }

  private boolean claim() {
    return isClaimed.compareAndSet(false, true);
  }

  @Override
  public void run() {
    if (!claim()) {
      return;
    }
    @Nullable IOException failure = null;
    try {
      transfer.run();
    } catch (Throwable e) {
      failure = StoreFailure.asIoException(e);
    }
    report(completion, failure);
  }
}
