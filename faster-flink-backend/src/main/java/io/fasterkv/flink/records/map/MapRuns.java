package io.fasterkv.flink.records.map;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.base.Records;
import java.util.Arrays;

/** Stores map entries that are too large for a bucket, each in a run of records. */
final class MapRuns {
  private final Records records;
  private final Bytes run = new Bytes();
  private final Bytes record = new Bytes();

  MapRuns(Records records) {
    this.records = records;
  }

  /**
   * Writes an entry, whose value follows its user key, to a new run; returns the run's start.
   *
   * @param head must have an incarnation
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
      record.appendLong(head.incarnation());
      record.append(sub == first ? MapLayout.FIRST : MapLayout.NEXT);
      record.appendLong(stamp);
      record.append(run.array(), at, Math.min(pieceBytes, run.length() - at));
      records.put(key.record(sub), record, record.length());
    }
    run.clear();
    return first;
  }

  /**
   * Allocates sub numbers in ascending order; after the last one, it reuses free ones from the
   * start.
   */
  private int allocate(CompositeKey key, MapHead head, int pieces) {
    int first = head.nextRun();
    for (int free = 0; free < pieces; ) {
      if (first + pieces < MapLayout.FIRST_RUN) {
        first = MapLayout.FIRST_RUN;
        free = 0;
      }
      if (records.hasPart(key.record(first + free), head.incarnation())) {
        first += free + 1;
        free = 0;
      } else {
        free++;
      }
    }
    head.setNextRun(first + pieces);
    return first;
  }

  /** Number of records that a run needs for user key and value of this length together. */
  int pieces(int length) {
    return Math.ceilDiv(Math.addExact(length, MapLayout.RUN_HEAD_BYTES), pieceBytes());
  }

  private int pieceBytes() {
    return records.limit() - MapLayout.RUN_RECORD_BYTES;
  }

  /**
   * Reads a whole run.
   *
   * @param into receives the run as {@link MapLayout} draws it
   * @return false if any record of it is missing
   */
  boolean read(CompositeKey key, long incarnation, int first, Bytes into) {
    into.clear();
    return append(key, incarnation, first, MapLayout.FIRST, into)
        && appendNext(key, incarnation, first, MapLayout.runLength(into.array(), 0), into);
  }

  /** Like {@link #read}, but reads only the records that have the user key. */
  private boolean readKey(CompositeKey key, long incarnation, int first, Bytes into) {
    into.clear();
    return append(key, incarnation, first, MapLayout.FIRST, into)
        && appendNext(key, incarnation, first, MapLayout.runKeyLength(into.array(), 0), into);
  }

  /**
   * Appends the records after the first until {@code length} bytes of user key and value are there.
   */
  private boolean appendNext(
      CompositeKey key, long incarnation, int first, int length, Bytes into) {
    for (int sub = first + 1; into.length() < MapLayout.RUN_HEAD_BYTES + length; sub++) {
      if (!append(key, incarnation, sub, MapLayout.NEXT, into)) {
        return false;
      }
    }
    return true;
  }

  private boolean append(CompositeKey key, long incarnation, int sub, byte tag, Bytes into) {
    return records.appendPart(key.record(sub), incarnation, MapLayout.RUN_RECORD_BYTES, into)
        == tag;
  }

  /** Whether the run that an entry names has this user key. */
  boolean holds(CompositeKey key, long incarnation, int first, UserKey userKey) {
    if (!readKey(key, incarnation, first, run)) {
      records.checkMayMiss(key, first);
      return false;
    }
    boolean isOf = isOf(run, userKey);
    run.clear();
    return isOf;
  }

  /** Whether a run whose user key was read has this user key. */
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

  /** Deletes a run if there is one. */
  void delete(CompositeKey key, long incarnation, int first) {
    run.clear();
    if (!append(key, incarnation, first, MapLayout.FIRST, run)) {
      return;
    }
    // A restored store may have pieces of another length.
    int whole = MapLayout.RUN_HEAD_BYTES + MapLayout.runLength(run.array(), 0);
    int pieces = Math.ceilDiv(whole, run.length());
    for (int piece = 0; piece < pieces; piece++) {
      records.delete(key.record(first + piece));
    }
  }
}
