package io.fasterkv.device.restore;

import java.io.IOException;

/**
 * A block that is not local yet could not be read from the origin. It still exists there: a retry
 * may succeed, unless the store is being closed.
 */
public final class OriginUnreadable extends IOException {
  private static final long serialVersionUID = 1;

  OriginUnreadable(String message, IOException cause) {
    super(message, cause);
  }
}
