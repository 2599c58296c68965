package io.fasterkv.process;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;

/**
 * Runs the main method of another class, and halts the JVM when its standard input ends: that is
 * when the process that started it has died, however it died.
 */
public final class TiedMain {
  private static final int ORPHANED = 75;

  private TiedMain() {}

  /**
   * Runs a class.
   *
   * @param args the name of the class, and its arguments
   */
  public static void main(String[] args) throws Throwable {
    Thread.ofPlatform().daemon().name("tied-to-the-test").start(TiedMain::haltAtEndOfInput);
    try {
      Class.forName(args[0])
          .getMethod("main", String[].class)
          .invoke(null, (Object) Arrays.copyOfRange(args, 1, args.length));
    } catch (InvocationTargetException failed) {
      throw failed.getCause();
    }
  }

  private static void haltAtEndOfInput() {
    try {
      while (System.in.read() >= 0) {
        // Nobody writes to it.
      }
    } catch (IOException closed) {
      // The same as its end.
    }
    Runtime.getRuntime().halt(ORPHANED);
  }
}
