package io.fasterkv;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * What is known about keys that one thread each writes, with versions 1, 2, 3 and so on; a delete
 * takes a version too. A reader looks here before and after its read, and knows what it may see.
 */
final class VersionedKeys {
  private final AtomicLongArray begun;
  private final AtomicLongArray ended;
  private final AtomicLongArray deleteBegun;

  VersionedKeys(int count) {
    begun = new AtomicLongArray(count);
    ended = new AtomicLongArray(count);
    deleteBegun = new AtomicLongArray(count);
  }

  int count() {
    return begun.length();
  }

  /** The version that the owner of a key is to write next. */
  long begin(int key, boolean isDelete) {
    long version = begun.get(key) + 1;
    if (isDelete) {
      deleteBegun.set(key, version);
    }
    begun.set(key, version);
    return version;
  }

  void end(int key, long version) {
    ended.set(key, version);
  }

  /** The version that has certainly been written by now. */
  long ended(int key) {
    return ended.get(key);
  }

  /** The version that may have been written by now. */
  long begun(int key) {
    return begun.get(key);
  }

  /** Whether the last that was done to a key, by its owner, is a delete. */
  boolean isDeleted(int key) {
    return deleteBegun.get(key) == begun.get(key);
  }

  /**
   * Checks what was found by a read that began when {@code endedBefore} had been written and has
   * ended now.
   *
   * @param version 0 if nothing was found
   */
  void check(int key, long version, long endedBefore) {
    check(key, version, endedBefore, begun.get(key), deleteBegun.get(key));
  }

  /** As above, with what had begun when the read ended. */
  void check(int key, long version, long endedBefore, long begunAfter, long deleteBegunAfter) {
    boolean isRight =
        version == 0
            ? endedBefore == 0 || deleteBegunAfter >= endedBefore
            : version >= endedBefore && version <= begunAfter;
    if (!isRight) {
      throw new IllegalStateException(
          "key "
              + key
              + ": found version "
              + version
              + " (0 is none), written before the read: "
              + endedBefore
              + ", begun after it: "
              + begunAfter
              + ", last delete: "
              + deleteBegunAfter);
    }
  }
}
