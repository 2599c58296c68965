package io.fasterkv.bench.demo;

/** The demo cannot start as it was called; the message says what to pass instead. */
final class UsageException extends Exception {
  private static final long serialVersionUID = 1;

  UsageException(String message) {
    super(message);
  }
}
