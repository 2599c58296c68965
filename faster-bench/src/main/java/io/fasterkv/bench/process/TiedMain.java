package io.fasterkv.bench.process;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;

/**
 * Runs the main method of another class. When standard input ends, because the parent process has
 * died or has closed it, this process halts.
 */
public final class TiedMain {
  private static final int ORPHANED = 75;

  private TiedMain() {}

  /**
   * Runs a class.
   *
   * @param arguments the name of the class, and its arguments
   */
  public static void main(String[] arguments) throws Throwable {
    // A platform thread: it blocks in the system for the lifetime of the process.
    Thread.ofPlatform().daemon().name("tied-to-parent").start(TiedMain::haltAtEndOfInput);
    try {
      Class.forName(arguments[0])
          .getMethod("main", String[].class)
          .invoke(null, (Object) Arrays.copyOfRange(arguments, 1, arguments.length));
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private static void haltAtEndOfInput() {
    try {
      while (System.in.read() >= 0) {
        // No process writes to this stream.
      }
    } catch (IOException e) {
      Runtime.getRuntime().halt(ORPHANED);
    }
    Runtime.getRuntime().halt(ORPHANED);
  }
}
