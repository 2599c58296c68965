package io.fasterkv.flink.records.tree;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.records.base.RecordReader;
import org.jspecify.annotations.Nullable;

/** Searches a tree one level at a time: finds the child of an inner block that a key belongs to. */
final class TreeSearch implements RecordReader {
  private final TreeCursor cursor = new TreeCursor();
  private KeyCopy low = new KeyCopy();
  private KeyCopy high = new KeyCopy();
  private @Nullable OrderKey key;
  private int number;
  private int child;

  /**
   * Starts at the root; each read narrows the key range of the current block.
   *
   * @param wanted null for the first key
   * @param from receives the start of the range, or none
   * @param until receives the start of the next block's range, or none
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

  /** The block to continue with. */
  int child() {
    return child;
  }

  /** Sets the block that is read next. */
  TreeSearch in(int block) {
    number = block;
    return this;
  }

  /** Takes the last child whose separator is not greater than the key, or the first child. */
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
