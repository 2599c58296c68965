package io.fasterkv.demo;

import io.fasterkv.bench.process.WorkDirectory;
import io.fasterkv.demo.screen.BarScreen;
import io.fasterkv.demo.screen.PlainScreen;
import io.fasterkv.demo.screen.Screen;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/** A run as a process: it ends by itself or by Ctrl-C, and whichever comes first cleans up. */
final class DemoProcess {
  private static final long CLEAN_UP_SECONDS = 15;
  private static final int WIDTH_IF_UNKNOWN = 100;
  private static final int NARROWEST = 20;
  private static final int CAUSES_SHOWN = 8;

  private final DemoOptions options;
  private final WorkDirectory directory;
  private final PrintWriter err;
  private final DemoRun run;
  private final Screen screen = screen();
  private final AtomicBoolean ending = new AtomicBoolean();
  private final CountDownLatch cleanedUp = new CountDownLatch(1);

  DemoProcess(DemoOptions options, WorkDirectory directory, PrintWriter err) {
    this.options = options;
    this.directory = directory;
    this.err = err;
    this.run = new DemoRun(options, directory.path(), System.out);
  }

  /** Runs the demo and returns the exit code; does not return after Ctrl-C. */
  int run() {
    Runtime.getRuntime().addShutdownHook(new Thread(this::stop, "demo-stop"));
    int exit = DemoMain.WRONG;
    String message = "";
    try {
      exit = run.run(screen) ? DemoMain.RIGHT : DemoMain.WRONG;
    } catch (UsageException e) {
      exit = DemoMain.BAD_ARGUMENTS;
      message = String.valueOf(e.getMessage());
    } catch (Exception | Error e) {
      message = "FAILED: " + describe(e);
    }
    if (!ending.compareAndSet(false, true)) {
      waitForTheEnd();
    }
    if (!message.isEmpty()) {
      err.println(message);
    }
    cleanUp(exit == DemoMain.WRONG);
    return exit;
  }

  private static Screen screen() {
    if (!Boolean.getBoolean("io.fasterkv.demo.terminal")) {
      return new PlainScreen(System.out);
    }
    int columns = Integer.getInteger("io.fasterkv.demo.columns", WIDTH_IF_UNKNOWN);
    return new BarScreen(System.out, Math.max(NARROWEST, columns));
  }

  /** The shutdown hook: ends the run after Ctrl-C, and does nothing after a normal end. */
  private void stop() {
    try {
      if (ending.compareAndSet(false, true)) {
        screen.close();
        System.out.println("Stopped.");
        run.abort();
        cleanUp(false);
      } else {
        cleanedUp.await(CLEAN_UP_SECONDS, TimeUnit.SECONDS);
      }
    } catch (Exception e) {
      err.println("the run could not be stopped in order: " + e);
    }
  }

  private void cleanUp(boolean failed) {
    try {
      if (options.keep) {
        directory.keep();
      }
      if (options.keep || failed) {
        System.out.println("Log, checkpoints and savepoint: " + directory.path());
        directory.close();
      } else {
        directory.delete();
      }
    } catch (IOException e) {
      err.println("the run's directory stays: " + directory.path() + ": " + e);
    }
    cleanedUp.countDown();
  }

  /** After Ctrl-C the job ends like a failed one, but no failure is reported. */
  private static void waitForTheEnd() {
    while (true) {
      LockSupport.park();
    }
  }

  private static String describe(Throwable thrown) {
    StringBuilder text = new StringBuilder();
    Throwable cause = thrown;
    for (int i = 0; cause != null && i < CAUSES_SHOWN; i++) {
      text.append(i == 0 ? "" : System.lineSeparator() + "  because of ").append(cause);
      cause = cause.getCause();
    }
    return text.toString();
  }
}
