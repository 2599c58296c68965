package io.fasterkv.flink.records.tree;

import io.fasterkv.api.ByteSpan;

/**
 * Iterates over the entries of one block of a tree, in the shape that {@link TreeLayout} draws. It
 * is reused for different blocks. Not safe for use by two threads.
 */
public final class TreeCursor {
  private ByteSpan block = new ByteSpan();
  private int start;
  private int keyAt;
  private int keyLength;
  private int next;
  private int childBytes;

  /** Moves before the first entry. */
  public TreeCursor on(ByteSpan entries, int number) {
    return on(entries, number, TreeLayout.firstEntryAt(number));
  }

  /** Moves before the entry at {@code from}. */
  TreeCursor on(ByteSpan entries, int number, int from) {
    block = entries;
    childBytes = isLeaf() ? 0 : TreeLayout.CHILD_BYTES;
    next = from;
    start = from;
    return this;
  }

  private boolean isLeaf() {
    return block.getByte(TreeLayout.LEVEL_AT) == TreeLayout.LEAF;
  }

  /** Moves to the next entry; returns false at the end. */
  public boolean next() {
    start = next;
    if (next >= block.length()) {
      return false;
    }
    keyLength = block.getByte(start) & 0xFF;
    keyAt = start + TreeLayout.LENGTH_BYTES;
    next = keyAt + keyLength + childBytes;
    return true;
  }

  /** Moves to the next entry that is not less than the key; returns false if there is none. */
  boolean seek(OrderKey key) {
    while (next()) {
      if (compareTo(key) >= 0) {
        return true;
      }
    }
    return false;
  }

  /** Compares the entry with a key: negative if the entry comes first. */
  int compareTo(OrderKey key) {
    return key.compareFrom(block, keyAt, keyLength);
  }

  /** Start of the entry; after the last one, the end of the block. */
  int start() {
    return start;
  }

  /** Start of the next entry. */
  int end() {
    return next;
  }

  public int keyAt() {
    return keyAt;
  }

  public int keyLength() {
    return keyLength;
  }

  /** The child block of an inner block's entry. */
  int child() {
    return block.getInt(keyAt + keyLength);
  }
}
