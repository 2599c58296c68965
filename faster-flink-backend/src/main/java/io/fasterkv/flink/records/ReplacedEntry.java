package io.fasterkv.flink.records;

import io.fasterkv.flink.key.CompositeKey;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;

/**
 * Finds the entry that a {@link MapCursor} knows by the name of a run which is not there any more:
 * it was put anew after the cursor had read its block. What the entry is now has the same hash, and
 * is not in the block that the cursor has. For one cursor.
 */
final class ReplacedEntry {
  private final Records records;
  private final MapRuns runs;
  private final CompositeKey key;

  /** User keys that were found. */
  private final Set<ByteBuffer> found = new HashSet<>();

  private byte[] bytes = new byte[0];
  private int keyAt;
  private int keyLength;
  private int valueLength;

  /**
   * @param key the map's
   */
  ReplacedEntry(Records records, MapRuns runs, CompositeKey key) {
    this.records = records;
    this.runs = runs;
    this.key = key;
  }

  /**
   * Looks for another entry each time.
   *
   * @param seen the cursor's block, whose entries begin at {@code from}
   * @return false if the entry was removed, or has expired, or the map is another
   */
  boolean find(long identity, long hash, HeapBlock seen, int from) {
    MapHead head = new MapHead();
    if (!records.read(key.head(), head.block()) || head.identity() != identity) {
      return false;
    }
    HeapBlock now = head.block();
    int nowFrom = head.entriesAt();
    if (head.hasBuckets()) {
      int number = MapLayout.bucketOf(hash, head.buckets());
      now = new HeapBlock();
      nowFrom = MapLayout.BUCKET_HEAD_BYTES;
      if (!records.readPart(key.record(MapLayout.FIRST_BUCKET + number), identity, now)) {
        return false;
      }
    }
    EntryCursor cursor = new EntryCursor().on(now.open(0), nowFrom);
    while (cursor.next()) {
      boolean isCandidate =
          cursor.inRun() ? takeRun(identity, hash, cursor) : take(hash, now, cursor);
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

  private boolean takeRun(long identity, long hash, EntryCursor cursor) {
    Bytes run = new Bytes();
    if (cursor.hashOfRun() != hash || !runs.read(key, identity, cursor.run(), run)) {
      return false;
    }
    bytes = run.array();
    keyAt = MapLayout.RUN_HEAD_BYTES;
    keyLength = MapLayout.runKeyLength(bytes, 0);
    valueLength = MapLayout.runLength(bytes, 0) - keyLength;
    return true;
  }

  /** Whether the cursor shows the entry anyway. */
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

  /** Holds user key and value; nobody changes it any more. */
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
