package io.fasterkv.api.session;

import io.fasterkv.api.StoreException.BadConfig;
import java.nio.charset.StandardCharsets;

/**
 * Identifies a session across restarts of a store, by its name. The operations of a named session
 * have serial numbers from 1. For each name, a checkpoint records the number up to which it
 * contains all operations, the failed ones among these, and contains none after it ({@link
 * io.fasterkv.api.checkpoint.CommitPoint}).
 *
 * @param name 1 to 255 bytes in UTF-8
 * @param isResumed whether the session continues where an earlier session of that name stopped, in
 *     this run or before a restart; otherwise the name must be new
 */
public record SessionIdentity(String name, boolean isResumed) {
  private static final int MAX_BYTES = 255;

  /**
   * Checks the name's length.
   *
   * @throws BadConfig if the name is not 1 to 255 bytes long
   */
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

  /**
   * Identifies a new session.
   *
   * @param name 1 to 255 bytes in UTF-8, not used before in this store
   * @return the identity
   */
  public static SessionIdentity start(String name) {
    return new SessionIdentity(name, false);
  }

  /**
   * Identifies a session that continues after its last recovered, or last accepted, operation.
   *
   * @param name the name of the earlier session
   * @return the identity
   */
  public static SessionIdentity resume(String name) {
    return new SessionIdentity(name, true);
  }
}
