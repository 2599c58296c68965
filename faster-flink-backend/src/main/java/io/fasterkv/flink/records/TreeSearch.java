package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;
import org.jspecify.annotations.Nullable;

/** One step down a tree: from an inner block to the child that a key belongs to. */
final class TreeSearch implements RecordReader {
  private final TreeCursor cursor = new TreeCursor();
  private KeyCopy low = new KeyCopy();
  private KeyCopy high = new KeyCopy();
  private @Nullable OrderKey key;
  private int number;
  private int child;

  /**
   * Starts at the root and narrows down the range of keys of the block it is in.
   *
   * @param wanted null for the first key
   * @param from where the range begins, or none
   * @param until where the next block's range begins, or none
   */
  TreeSearch start(@Nullable OrderKey wanted, KeyCopy from, KeyCopy until) {
    key = wanted;
    low = from;
    high = until;
    child = TreeLayout.ROOT;
    low.setNone();
    high.setNone();
    return this;
  }

  /** The block to go on with. */
  int child() {
    return child;
  }

  /** The next read is of this block. */
  TreeSearch in(int block) {
    number = block;
    return this;
  }

  /** Takes the last child whose separator does not come after the key, or the first child. */
  @Override
  public void read(ByteSpan block) {
    cursor.on(block, number).next();
    int found = cursor.child();
    int lowAt = 0;
    int lowLength = 0;
    while (cursor.next()) {
      if (key == null || cursor.compareTo(key) > 0) {
        high.set(block, cursor.keyAt(), cursor.keyLength());
        break;
      }
      found = cursor.child();
      lowAt = cursor.keyAt();
      lowLength = cursor.keyLength();
    }
    child = found;
    if (lowAt > 0) {
      low.set(block, lowAt, lowLength);
    }
  }
}
