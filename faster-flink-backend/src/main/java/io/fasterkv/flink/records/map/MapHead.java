package io.fasterkv.flink.records.map;

import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.base.HeapBlock;
import io.fasterkv.flink.records.base.Numbers;
import io.fasterkv.flink.records.base.PartLayout;

/** A copy of a map's head record on the heap, with the entries of an inline map. */
final class MapHead {
  private final HeapBlock block = new HeapBlock();

  HeapBlock block() {
    return block;
  }

  private byte[] array() {
    return block.bytes().array();
  }

  /** Becomes an inline map without entries. */
  void makeEmpty() {
    block.bytes().clear();
    block.bytes().append(MapLayout.INLINE);
  }

  /** Becomes the head of a map with runs; its entries stay. */
  void makeRuns(long incarnation) {
    Bytes bytes = block.bytes();
    bytes.insert(MapLayout.TAG_BYTES, MapLayout.RUNS_HEAD_BYTES - MapLayout.TAG_BYTES);
    array()[MapLayout.TAG_AT] = MapLayout.RUNS;
    Numbers.putLong(array(), PartLayout.HEAD_INCARNATION_AT, incarnation);
    setNextRun(MapLayout.FIRST_RUN);
  }

  /** Becomes the head of a map with buckets, which must already have an incarnation. */
  void makeBuckets(int buckets, int used) {
    Bytes bytes = block.bytes();
    array()[MapLayout.TAG_AT] = MapLayout.BUCKETS;
    bytes.setLength(MapLayout.BUCKETS_AT);
    bytes.appendInt(buckets);
    bytes.appendInt(used);
  }

  boolean hasBuckets() {
    return array()[MapLayout.TAG_AT] == MapLayout.BUCKETS;
  }

  /** The incarnation, or {@link PartLayout#NONE} for a map in one record. */
  long incarnation() {
    return PartLayout.ofHead(array(), 0);
  }

  /** Position of the first entry of a map without buckets. */
  int entriesAt() {
    return MapLayout.entriesAt(array()[MapLayout.TAG_AT]);
  }

  boolean everHadRuns() {
    return incarnation() != PartLayout.NONE && nextRun() != MapLayout.FIRST_RUN;
  }

  /** Sub number of the next run. */
  int nextRun() {
    return Numbers.getInt(array(), MapLayout.NEXT_RUN_AT);
  }

  void setNextRun(int sub) {
    Numbers.putInt(array(), MapLayout.NEXT_RUN_AT, sub);
  }

  int buckets() {
    return Numbers.getInt(array(), MapLayout.BUCKETS_AT);
  }

  void setBuckets(int buckets) {
    Numbers.putInt(array(), MapLayout.BUCKETS_AT, buckets);
  }

  /**
   * Number of buckets that have entries, and so a record. Where entries expire, compaction drops
   * buckets without counting them, so there may be fewer.
   */
  int used() {
    return Numbers.getInt(array(), MapLayout.USED_AT);
  }

  /** Counts buckets that were stored or deleted. */
  void addUsed(int buckets) {
    Numbers.putInt(array(), MapLayout.USED_AT, Math.min(used() + buckets, buckets()));
  }
}
