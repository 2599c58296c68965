package io.fasterkv.flink.records;

/** The head record of a map, with an inline map's entries, on the heap. */
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
    Bytes bytes = block.bytes();
    bytes.clear();
    bytes.append(MapLayout.INLINE);
    bytes.appendInt(MapLayout.FIRST_RUN);
  }

  /** Becomes the head of a map with buckets; its entries must be there by now. */
  void makeBuckets(int buckets, long entries, long size) {
    int nextRun = nextRun();
    Bytes bytes = block.bytes();
    bytes.clear();
    bytes.append(MapLayout.BUCKETS);
    bytes.appendInt(nextRun);
    bytes.appendInt(buckets);
    bytes.appendLong(entries);
    bytes.appendLong(size);
  }

  boolean hasBuckets() {
    return array()[MapLayout.TAG_AT] == MapLayout.BUCKETS;
  }

  boolean everHadRuns() {
    return nextRun() != MapLayout.FIRST_RUN;
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

  /** How many entries the buckets hold. */
  long entries() {
    return Numbers.getLong(array(), MapLayout.COUNT_AT);
  }

  /** Bytes of all entries in buckets. */
  long size() {
    return Numbers.getLong(array(), MapLayout.SIZE_AT);
  }

  void add(int entries, int size) {
    Numbers.putLong(array(), MapLayout.COUNT_AT, entries() + entries);
    Numbers.putLong(array(), MapLayout.SIZE_AT, size() + size);
  }
}
