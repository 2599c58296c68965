package io.fasterkv.flink.records.map;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.base.HeapBlock;
import io.fasterkv.flink.records.base.Records;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;

/**
 * Finds the entry of a {@link MapCursor} whose run no longer exists because the entry was replaced
 * after the cursor read its block. The new entry has the same hash and is not in the cursor's
 * block. For one cursor.
 */
final class ReplacedEntry {
  private final Records records;
  private final MapRuns runs;
  private final CompositeKey key;

  /** User keys found so far. */
  private final Set<ByteBuffer> found = new HashSet<>();

  private byte[] bytes = new byte[0];
  private int keyAt;
  private int keyLength;
  private int valueLength;

  /**
   * @param key the map's key
   */
  ReplacedEntry(Records records, MapRuns runs, CompositeKey key) {
    this.records = records;
    this.runs = runs;
    this.key = key;
  }

  /**
   * Finds an entry that no earlier call has returned.
   *
   * @param seen the cursor's block, whose entries begin at {@code from}
   * @return false if the entry was removed or has expired, or the map was replaced
   */
  boolean find(long incarnation, long hash, HeapBlock seen, int from) {
    MapHead head = new MapHead();
    if (!records.read(key.head(), head.block()) || head.incarnation() != incarnation) {
      return false;
    }
    HeapBlock now = head.block();
    int nowFrom = head.entriesAt();
    if (head.hasBuckets()) {
      int number = MapLayout.bucketOf(hash, head.buckets());
      now = new HeapBlock();
      nowFrom = MapLayout.BUCKET_HEAD_BYTES;
      if (!records.readPart(key.record(MapLayout.FIRST_BUCKET + number), incarnation, now)) {
        return false;
      }
    }
    EntryCursor cursor = new EntryCursor().on(now.open(0), nowFrom);
    while (cursor.next()) {
      boolean isCandidate =
          cursor.inRun() ? takeRun(incarnation, hash, cursor) : take(hash, now, cursor);
      if (isCandidate && !isIn(seen, from, cursor) && found.add(userKey())) {
        return true;
      }
    }
    return false;
  }

  private boolean take(long hash, HeapBlock block, EntryCursor cursor) {
    bytes = block.bytes().array();
    keyAt = cursor.keyAt();
    keyLength = cursor.keyLength();
    valueLength = cursor.valueLength();
    return UserKey.hash(bytes, keyAt, keyLength) == hash;
  }

  private boolean takeRun(long incarnation, long hash, EntryCursor cursor) {
    Bytes run = new Bytes();
    if (cursor.hashOfRun() != hash || !runs.read(key, incarnation, cursor.run(), run)) {
      return false;
    }
    bytes = run.array();
    keyAt = MapLayout.RUN_HEAD_BYTES;
    keyLength = MapLayout.runKeyLength(bytes, 0);
    valueLength = MapLayout.runLength(bytes, 0) - keyLength;
    return true;
  }

  /** Whether the cursor's block has the entry. */
  private boolean isIn(HeapBlock seen, int from, EntryCursor entry) {
    EntryCursor cursor = new EntryCursor().on(seen.open(0), from);
    while (cursor.next()) {
      boolean isSame =
          cursor.inRun()
              ? entry.inRun() && cursor.run() == entry.run()
              : ByteBuffer.wrap(seen.bytes().array(), cursor.keyAt(), cursor.keyLength())
                  .equals(userKey());
      if (isSame) {
        return true;
      }
    }
    return false;
  }

  private ByteBuffer userKey() {
    return ByteBuffer.wrap(bytes, keyAt, keyLength);
  }

  /** The array with user key and value; it no longer changes. */
  byte[] bytes() {
    return bytes;
  }

  int keyAt() {
    return keyAt;
  }

  int keyLength() {
    return keyLength;
  }

  int valueLength() {
    return valueLength;
  }
}
