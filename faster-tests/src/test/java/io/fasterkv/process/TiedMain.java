package io.fasterkv.process;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;

/**
 * Runs the main method of another class. When standard input ends because the parent process has
 * died, it halts the JVM and the processes that the JVM has started.
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
        // No process writes to this stream.
      }
    } catch (IOException closed) {
      // Treated like the end of the stream.
    }
    ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
    Runtime.getRuntime().halt(ORPHANED);
  }
}
