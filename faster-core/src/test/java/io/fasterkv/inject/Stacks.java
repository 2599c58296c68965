package io.fasterkv.inject;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;

/** Thread stacks as text. */
final class Stacks {
  private static final int MOST_FRAMES = 25;

  private Stacks() {}

  static String of(Throwable thrown) {
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text, true));
    return text.toString();
  }

  /** The stacks of all threads that run or wait in the store's code. */
  static String ofStore() {
    StringBuilder text = new StringBuilder();
    for (Map.Entry<Thread, StackTraceElement[]> stack : Thread.getAllStackTraces().entrySet()) {
      boolean isInStore = false;
      for (StackTraceElement frame : stack.getValue()) {
        isInStore |= frame.getClassName().startsWith("io.fasterkv.");
      }
      if (isInStore) {
        text.append(stack.getKey()).append(' ').append(stack.getKey().getState()).append('\n');
        for (int i = 0; i < Math.min(MOST_FRAMES, stack.getValue().length); i++) {
          text.append("    ").append(stack.getValue()[i]).append('\n');
        }
      }
    }
    return text.toString();
  }
}
