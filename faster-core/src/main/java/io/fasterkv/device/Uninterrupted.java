package io.fasterkv.device;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Steps on files that an interrupt does not end. Java closes a file under every thread when one is
 * interrupted while it uses it. Who was interrupted has the step done again by a thread that nobody
 * interrupts, since those who interrupt often would end it again; the caller waits for that, and
 * its interrupt is put back. Who only found a file closed tries again.
 */
public final class Uninterrupted {
  private Uninterrupted() {}

  /** Can be done again, and then opens again what it finds closed. Used by one thread at a time. */
  interface Step {
    void run() throws IOException;
  }

  /** Does a step. Any thread. */
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
    await(CompletableFuture.runAsync(() -> runToItsEnd(step), Uninterrupted::start));
  }

  /**
   * Waits for work on files, which an interrupt does not end; what ended the work is thrown as it
   * was, an {@link UncheckedIOException} as its cause.
   */
  public static void await(CompletableFuture<Void> work) throws IOException {
    try {
      work.join();
    } catch (CompletionException e) {
      throw unwrapped(e);
    }
  }

  private static void runToItsEnd(Step step) {
    try {
      while (!isDone(step)) {
        Thread.onSpinWait();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void start(Runnable work) {
    Thread.ofPlatform()
        .daemon()
        .name("faster-uninterrupted")
        .inheritInheritableThreadLocals(false)
        .start(work);
  }

  private static IOException unwrapped(CompletionException e) {
    switch (e.getCause()) {
      case UncheckedIOException failed -> {
        return Objects.requireNonNull(failed.getCause());
      }
      case Error error -> throw error;
      case RuntimeException cause -> throw cause;
      case null, default -> throw e;
    }
  }
}
