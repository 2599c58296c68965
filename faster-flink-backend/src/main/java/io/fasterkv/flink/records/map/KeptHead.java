package io.fasterkv.flink.records.map;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.base.RecordReader;

/**
 * The head of the map with buckets that was accessed last. The next access to the same map does not
 * read it from the store.
 *
 * <p>While a head is kept, it equals the stored one. Only one session of a store writes maps, and
 * only it looks up single entries; the other sessions iterate and read the head each time. Every
 * write that changes the head stores it before it returns, so a snapshot and all readers of the
 * store find the current head. A write drops the kept head before it changes the copy, and keeps it
 * again after the changed head was stored; so a write that fails leaves no kept head.
 *
 * <p>Where entries expire, compaction may have dropped the stored head after the map's last bucket.
 * A kept head is then as good as none to a reader, who finds no bucket. A writer stores it again
 * after its bucket ({@link ByteMaps#put}). For one thread at a time.
 */
final class KeptHead implements RecordReader {
  private final MapHead head = new MapHead();
  private final CompositeKey key = new CompositeKey();
  private boolean isKept;

  /** The copy of the last head that was read; the caller calls {@link #drop} before a change. */
  MapHead head() {
    return head;
  }

  /** Whether the head of this map is kept. */
  boolean isOf(CompositeKey map) {
    return isKept && key.hasPrefixOf(map);
  }

  /** Copies a stored head; {@link #keep} then keeps it. */
  @Override
  public void read(ByteSpan stored) {
    isKept = false;
    head.block().read(stored);
  }

  /** Keeps the copy, which equals the stored head of this map, if the map has buckets. */
  void keep(CompositeKey map) {
    isKept = head.hasBuckets();
    if (isKept) {
      key.setPrefix(map);
    }
  }

  void drop() {
    isKept = false;
  }
}
