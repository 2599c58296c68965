package io.fasterkv.demo;

import org.jspecify.annotations.Nullable;

/** The job did not reach its end. */
final class JobFailedException extends Exception {
  private static final long serialVersionUID = 1;

  JobFailedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
