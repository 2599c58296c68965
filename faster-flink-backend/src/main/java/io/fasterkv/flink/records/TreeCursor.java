package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;

/**
 * Walks over the entries of one block of a tree, shaped as {@link TreeLayout} draws them. Moved
 * from block to block; not safe for use by two threads.
 */
public final class TreeCursor {
  private ByteSpan block = new ByteSpan();
  private int start;
  private int keyAt;
  private int keyLength;
  private int next;
  private int childBytes;

  /** Stands before the first entry. */
  public TreeCursor on(ByteSpan entries, int number) {
    return on(entries, number, TreeLayout.firstEntryAt(number));
  }

  /** Stands before the entry at {@code from}. */
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

  /** Steps to the next entry; false at the end. */
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

  /** Steps to the next entry that does not come before the key; false if there is none. */
  boolean seek(OrderKey key) {
    while (next()) {
      if (compareTo(key) >= 0) {
        return true;
      }
    }
    return false;
  }

  /** Compares the entry with a key: negative if it comes before it. */
  int compareTo(OrderKey key) {
    return key.compareFrom(block, keyAt, keyLength);
  }

  /** Where the entry starts; behind the last one, where the block ends. */
  int start() {
    return start;
  }

  /** Where the next entry starts. */
  int end() {
    return next;
  }

  public int keyAt() {
    return keyAt;
  }

  public int keyLength() {
    return keyLength;
  }

  /** The block that an inner block's entry leads to. */
  int child() {
    return block.getInt(keyAt + keyLength);
  }
}
