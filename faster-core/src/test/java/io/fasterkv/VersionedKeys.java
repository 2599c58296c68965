package io.fasterkv;

import io.fasterkv.api.config.StoreConfig.RecordKind;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.LongStream;

/**
 * The state of keys that are each written by one thread, with versions 1, 2, 3 and so on; a delete
 * takes a version too. Readers consult it before and after a read to know which versions they may
 * see.
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

  /** The version that the owner of a key writes next; marks its write as begun. */
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

  /** The version whose write has certainly ended by now. */
  long ended(int key) {
    return ended.get(key);
  }

  /** The version whose write may have ended by now. */
  long begun(int key) {
    return begun.get(key);
  }

  /** Whether the owner's last operation on a key was a delete. */
  boolean isDeleted(int key) {
    return deleteBegun.get(key) == begun.get(key);
  }

  /**
   * Checks the result of a read that began when {@code endedBefore} had been written and has ended
   * now.
   *
   * @param version 0 if nothing was found
   */
  void check(int key, long version, long endedBefore) {
    check(key, version, endedBefore, begun.get(key), deleteBegun.get(key));
  }

  /** Like the other method, given the operations that had begun when the read ended. */
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

  /** Scans a cut of the store and checks the version of every key. */
  void checkScan(FasterStore store, VersionedFunctions functions, RecordKind kind) {
    long[] before = LongStream.range(0, count()).map(key -> ended((int) key)).toArray();
    long[] found = new long[count()];
    try (LogCut cut = store.log().cut();
        LogScan scan = cut.scan()) {
      while (scan.next()) {
        int key = (int) VersionedFunctions.number(scan.key());
        found[key] = scan.isTombstone() ? 0 : version(functions, key, scan, kind);
      }
    }
    for (int key = 0; key < found.length; key++) {
      check(key, found[key], before[key]);
    }
  }

  private static long version(
      VersionedFunctions functions, int key, LogScan scan, RecordKind kind) {
    return kind == RecordKind.LONGS ? scan.value().getLong(0) : functions.check(key, scan.value());
  }
}
