package io.fasterkv.flink.records;

import io.fasterkv.flink.key.CompositeKey;
import java.util.Arrays;

/** The entries of maps that are too large for a bucket, each in a run of records. */
final class MapRuns {
  private final Records records;
  private final Bytes run = new Bytes();
  private final Bytes record = new Bytes();

  MapRuns(Records records) {
    this.records = records;
  }

  /**
   * Writes an entry, whose value lies behind its user key, to a new run; returns its start.
   *
   * @param head has an identity
   */
  int write(CompositeKey key, MapHead head, UserKey userKey, byte[] value, int length) {
    int whole = Math.addExact(userKey.length(), length);
    int first = allocate(key, head, pieces(whole));
    run.clear();
    run.appendInt(whole);
    run.appendInt(userKey.length());
    run.append(userKey.bytes(), userKey.offset(), userKey.length());
    run.append(value, userKey.offset() + userKey.length(), length);
    long stamp = MapLayout.stamp(value, userKey.offset() + userKey.length(), length);
    int pieceBytes = pieceBytes();
    for (int at = 0, sub = first; at < run.length(); at += pieceBytes, sub++) {
      record.clear();
      record.appendLong(head.identity());
      record.append(sub == first ? MapLayout.FIRST : MapLayout.NEXT);
      record.appendLong(stamp);
      record.append(run.array(), at, Math.min(pieceBytes, run.length() - at));
      records.put(key.record(sub), record, record.length());
    }
    run.clear();
    return first;
  }

  /** Sub numbers are given out in turn; when they are used up, from the start where free. */
  private int allocate(CompositeKey key, MapHead head, int pieces) {
    int first = head.nextRun();
    for (int free = 0; free < pieces; ) {
      if (first + pieces < MapLayout.FIRST_RUN) {
        first = MapLayout.FIRST_RUN;
        free = 0;
      }
      if (records.hasPart(key.record(first + free), head.identity())) {
        first += free + 1;
        free = 0;
      } else {
        free++;
      }
    }
    head.setNextRun(first + pieces);
    return first;
  }

  /** How many records a run for a user key and value of this length together takes. */
  int pieces(int length) {
    return Math.ceilDiv(Math.addExact(length, MapLayout.RUN_HEAD_BYTES), pieceBytes());
  }

  private int pieceBytes() {
    return records.limit() - MapLayout.RUN_RECORD_BYTES;
  }

  /**
   * Reads a whole run.
   *
   * @param into takes the run as {@link MapLayout} draws it
   * @return false if any of it is not there any more
   */
  boolean read(CompositeKey key, long identity, int first, Bytes into) {
    into.clear();
    return append(key, identity, first, MapLayout.FIRST, into)
        && appendNext(key, identity, first, MapLayout.runLength(into.array(), 0), into);
  }

  /** As {@link #read}, only as many records as have the user key. */
  private boolean readKey(CompositeKey key, long identity, int first, Bytes into) {
    into.clear();
    return append(key, identity, first, MapLayout.FIRST, into)
        && appendNext(key, identity, first, MapLayout.runKeyLength(into.array(), 0), into);
  }

  /** Adds the records behind the first one until so many bytes of user key and value are there. */
  private boolean appendNext(CompositeKey key, long identity, int first, int length, Bytes into) {
    for (int sub = first + 1; into.length() < MapLayout.RUN_HEAD_BYTES + length; sub++) {
      if (!append(key, identity, sub, MapLayout.NEXT, into)) {
        return false;
      }
    }
    return true;
  }

  private boolean append(CompositeKey key, long identity, int sub, byte tag, Bytes into) {
    return records.appendPart(key.record(sub), identity, MapLayout.RUN_RECORD_BYTES, into) == tag;
  }

  /** Whether the run, which an entry has named, holds this user key. */
  boolean holds(CompositeKey key, long identity, int first, UserKey userKey) {
    if (!readKey(key, identity, first, run)) {
      records.checkMayMiss(key, first);
      return false;
    }
    boolean isOf = isOf(run, userKey);
    run.clear();
    return isOf;
  }

  /** Whether a run of which the user key was read is this one's. */
  static boolean isOf(Bytes run, UserKey userKey) {
    int from = MapLayout.RUN_HEAD_BYTES;
    return Arrays.equals(
        run.array(),
        from,
        from + MapLayout.runKeyLength(run.array(), 0),
        userKey.bytes(),
        userKey.offset(),
        userKey.offset() + userKey.length());
  }

  /** Deletes a run, if it is there. */
  void delete(CompositeKey key, long identity, int first) {
    run.clear();
    if (!append(key, identity, first, MapLayout.FIRST, run)) {
      return;
    }
    // In a store that was restored the pieces may be of another length.
    int whole = MapLayout.RUN_HEAD_BYTES + MapLayout.runLength(run.array(), 0);
    int pieces = Math.ceilDiv(whole, run.length());
    for (int piece = 0; piece < pieces; piece++) {
      records.delete(key.record(first + piece));
    }
  }
}
