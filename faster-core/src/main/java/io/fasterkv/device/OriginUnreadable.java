package io.fasterkv.device;

import java.io.IOException;

/**
 * A block that is not here yet could not be read where it came from. It is still there: another
 * attempt may succeed, unless the store is being closed.
 */
public final class OriginUnreadable extends IOException {
  private static final long serialVersionUID = 1;

  OriginUnreadable(String message, IOException cause) {
    super(message, cause);
  }
}
