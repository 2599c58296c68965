package io.fasterkv.device.file;

import io.fasterkv.memory.OwnThread;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import org.jspecify.annotations.Nullable;

/**
 * Performs steps on files that an interrupt does not end. If a thread is interrupted while it uses
 * a file, Java closes the file for all threads. The interrupted thread has the step repeated on a
 * thread that no one interrupts, because further interrupts would end it again. It waits for that
 * thread, and its interrupt is restored afterwards. A thread that only found the file closed
 * retries.
 */
final class Uninterrupted {
  private Uninterrupted() {}

  /**
   * A step that can be repeated, and that then reopens a file that it finds closed. For one thread
   * at a time.
   */
  interface Step {
    void run() throws IOException;
  }

  /** Performs a step, on any thread. */
  static void run(Step step) throws IOException {
    boolean isInterrupted = Thread.interrupted();
    try {
      while (!isDone(step)) {
        if (Thread.interrupted()) {
          isInterrupted = true;
          runApart(step);
          return;
        }
      }
    } finally {
      if (isInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static boolean isDone(Step step) throws IOException {
    try {
      step.run();
      return true;
    } catch (ClosedChannelException e) {
      return false;
    }
  }

  private static void runApart(Step step) throws IOException {
    Apart apart = new Apart(step);
    Thread thread =
        Thread.ofPlatform()
            .daemon()
            .name("faster-uninterrupted")
            .inheritInheritableThreadLocals(false)
            .start(apart);
    OwnThread.awaitEnd(thread);
    apart.throwIfFailed();
  }

  /** A step on a separate thread. Recording what it throws allocates nothing. */
  private static final class Apart implements Runnable {
    private final Step step;
    private @Nullable Throwable thrown;

    Apart(Step step) {
      this.step = step;
    }

    @Override
    public void run() {
      try {
        while (!isDone(step)) {
          Thread.onSpinWait();
        }
      } catch (Throwable e) {
        thrown = e;
      }
    }

    void throwIfFailed() throws IOException {
      switch (thrown) {
        case null -> {}
        case IOException e -> throw e;
        case Error e -> throw e;
        case RuntimeException e -> throw e;
        default -> throw new IllegalStateException("a step cannot throw this", thrown);
      }
    }
  }
}
