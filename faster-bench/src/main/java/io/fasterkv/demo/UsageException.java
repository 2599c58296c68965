package io.fasterkv.demo;

/** The demo cannot start with these arguments; the message says what to pass instead. */
final class UsageException extends Exception {
  private static final long serialVersionUID = 1;

  UsageException(String message) {
    super(message);
  }
}
