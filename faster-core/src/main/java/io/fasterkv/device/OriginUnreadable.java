package io.fasterkv.device;

import java.io.IOException;

/**
 * What is not here yet could not be read where it came from. It is still there: another attempt may
 * succeed.
 */
public final class OriginUnreadable extends IOException {
  private static final long serialVersionUID = 1;

  OriginUnreadable(String message, IOException cause) {
    super(message, cause);
  }
}
