package io.fasterkv.flink.records.map;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.base.HeapBlock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** All entries of a small map, in the order of their serialized user keys. */
final class OrderedEntries {
  private record Entry(int start, int keyAt, int keyLength) {}

  private final Bytes all;
  private final ByteSpan span = new ByteSpan();
  private final List<Entry> entries = new ArrayList<>();
  private int shown;

  /**
   * @param bytes of the blocks to be added, about
   */
  OrderedEntries(int bytes) {
    all = new Bytes(bytes);
  }

  /** Adds the entries of a block that come after the cursor. */
  void add(HeapBlock block, EntryCursor cursor) {
    int shift = all.length();
    all.append(block.bytes().array(), 0, block.bytes().length());
    while (cursor.next()) {
      entries.add(new Entry(shift + cursor.start(), shift + cursor.keyAt(), cursor.keyLength()));
    }
  }

  void sort() {
    byte[] bytes = all.array();
    entries.sort((left, right) ->
        Arrays.compareUnsigned(
            bytes,
            left.keyAt,
            left.keyAt + left.keyLength,
            bytes,
            right.keyAt,
            right.keyAt + right.keyLength));
    span.wrap(bytes);
  }

  /** Moves the cursor to the next entry; returns false at the end. */
  boolean next(EntryCursor cursor) {
    return shown < entries.size() && cursor.before(span, entries.get(shown++).start).next();
  }

  byte[] bytes() {
    return all.array();
  }
}
