package io.fasterkv.api;

import io.fasterkv.api.StoreException.BadConfig;
import java.nio.charset.StandardCharsets;

/**
 * Who a session is, over the restarts of a store: a name. Each operation of a session that has a
 * name counts as the next serial number, from 1. A checkpoint has, for each name, the number up to
 * which all operations are in it, and none after it, and the updates that failed ({@link
 * CommitPoint}).
 *
 * @param name 1 to 255 bytes in UTF-8
 * @param isResumed whether the session goes on where one of that name has stopped, now or before a
 *     restart; otherwise the name is new
 */
public record SessionIdentity(String name, boolean isResumed) {
  private static final int MAX_BYTES = 255;

  public SessionIdentity {
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    if (bytes < 1 || bytes > MAX_BYTES) {
      throw new BadConfig(
          "a session's name is too short or too long: bytes="
              + bytes
              + ", allowed=1 to "
              + MAX_BYTES
              + " in UTF-8");
    }
  }

  /** A session that nobody has seen before. */
  public static SessionIdentity start(String name) {
    return new SessionIdentity(name, false);
  }

  /** A session that goes on after its last recovered, or last accepted, operation. */
  public static SessionIdentity resume(String name) {
    return new SessionIdentity(name, true);
  }
}
