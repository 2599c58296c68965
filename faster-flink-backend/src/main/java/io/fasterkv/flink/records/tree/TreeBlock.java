package io.fasterkv.flink.records.tree;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.base.Numbers;
import io.fasterkv.flink.records.base.Records;
import java.lang.foreign.MemorySegment;

/** A copy of a tree's block on the heap, where it may be longer than a record. Reused. */
final class TreeBlock {
  private final Bytes bytes = new Bytes();
  private final ByteSpan span = new ByteSpan();
  private final TreeCursor cursor = new TreeCursor();
  private int number;

  /** Becomes a copy of a record. */
  void load(Records records, CompositeKey key, int block) {
    number = block;
    if (!records.read(key.record(block), bytes)) {
      throw new IllegalStateException("a block of an ordered set is missing: block=" + block);
    }
  }

  /** Becomes a block without entries. */
  void make(int block, int level) {
    number = block;
    bytes.clear();
    bytes.append(level);
    if (block == TreeLayout.ROOT) {
      bytes.appendInt(TreeLayout.ROOT);
    }
  }

  /** Writes the record with a total capacity of {@code capacity} bytes. */
  void store(Records records, CompositeKey key, int capacity) {
    records.put(key.record(number), bytes, capacity);
  }

  int number() {
    return number;
  }

  int level() {
    return bytes.array()[TreeLayout.LEVEL_AT];
  }

  boolean isLeaf() {
    return level() == TreeLayout.LEAF;
  }

  boolean isRoot() {
    return number == TreeLayout.ROOT;
  }

  private int firstEntryAt() {
    return TreeLayout.firstEntryAt(number);
  }

  int length() {
    return bytes.length();
  }

  int entryBytes() {
    return bytes.length() - firstEntryAt();
  }

  boolean isEmpty() {
    return entryBytes() == 0;
  }

  /** The block number that was assigned last; only in the root. */
  int lastBlock() {
    return Numbers.getInt(bytes.array(), TreeLayout.LAST_BLOCK_AT);
  }

  void setLastBlock(int block) {
    Numbers.putInt(bytes.array(), TreeLayout.LAST_BLOCK_AT, block);
  }

  /**
   * Returns a cursor before the first entry; valid until the next call of any method but getters.
   */
  TreeCursor entries() {
    int length = bytes.length();
    return cursor.on(span.wrap(MemorySegment.ofArray(bytes.array()), 0, length, length), number);
  }

  /** The span with the block's bytes. */
  ByteSpan span() {
    return span;
  }

  /** Returns a cursor on the entry of the child that a key belongs to. */
  TreeCursor childFor(OrderKey key) {
    TreeCursor entries = entries();
    entries.next();
    int found = entries.start();
    while (entries.next() && entries.compareTo(key) <= 0) {
      found = entries.start();
    }
    cursor.on(span, number, found).next();
    return cursor;
  }

  /** Returns a cursor on the entry of this child. */
  TreeCursor entryOf(int child) {
    TreeCursor entries = entries();
    while (entries.next()) {
      if (entries.child() == child) {
        return entries;
      }
    }
    throw new IllegalStateException("an inner block does not lead to its child: child=" + child);
  }

  /** Inserts an order key into a leaf. */
  void insert(int at, OrderKey key) {
    insert(at, key.bytes(), 0, key.length());
  }

  /** Inserts an entry into an inner block. */
  void insert(int at, byte[] separator, int offset, int length, int child) {
    insert(at, separator, offset, length);
    int childAt = at + TreeLayout.LENGTH_BYTES + length;
    open(childAt, TreeLayout.CHILD_BYTES);
    Numbers.putInt(bytes.array(), childAt, child);
  }

  private void insert(int at, byte[] key, int offset, int length) {
    open(at, TreeLayout.LENGTH_BYTES + length);
    bytes.array()[at] = (byte) length;
    System.arraycopy(key, offset, bytes.array(), at + TreeLayout.LENGTH_BYTES, length);
  }

  private void open(int at, int count) {
    int behind = bytes.length() - at;
    bytes.setLength(bytes.length() + count);
    System.arraycopy(bytes.array(), at, bytes.array(), at + count, behind);
  }

  /** Removes the bytes between {@code from} and {@code to}. */
  void cut(int from, int to) {
    System.arraycopy(bytes.array(), to, bytes.array(), from, bytes.length() - to);
    bytes.setLength(bytes.length() - (to - from));
  }

  /** Removes a child's entry; the entry that is then first gets an empty separator. */
  void removeChild(int child) {
    TreeCursor entry = entryOf(child);
    cut(entry.start(), entry.end());
    emptyFirstSeparator();
  }

  private void emptyFirstSeparator() {
    TreeCursor first = entries();
    if (first.next() && first.keyLength() > 0) {
      cut(first.keyAt(), first.keyAt() + first.keyLength());
      bytes.array()[firstEntryAt()] = 0;
    }
  }

  /**
   * Where to split the block: in the middle, or before the last entry if that was just inserted, so
   * that keys inserted in ascending order fill their blocks.
   */
  int splitPoint(int insertedAt) {
    TreeCursor entries = entries();
    int middle = firstEntryAt() + entryBytes() / 2;
    int last = 0;
    int half = 0;
    while (entries.next()) {
      last = entries.start();
      if (half == 0 && last >= middle) {
        half = last;
      }
    }
    return insertedAt == last || half == 0 ? last : half;
  }

  /** Moves the entries from {@code at} on to the end of another block. */
  void moveTo(TreeBlock other, int at) {
    other.bytes.append(bytes.array(), at, bytes.length() - at);
    bytes.setLength(at);
  }

  /** Moves all entries to the end of another block. */
  void moveAllTo(TreeBlock other) {
    moveTo(other, firstEntryAt());
  }

  /**
   * Finds the shortest separator between this block and the one split off to its right. The parent
   * stores it. An inner block's first separator moves up.
   */
  void separatorTo(TreeBlock right, KeyCopy into) {
    TreeCursor first = right.entries();
    first.next();
    int at = first.keyAt();
    int length = first.keyLength();
    if (isLeaf()) {
      length = Math.min(length, commonWithLast(right, at, length) + 1);
    }
    into.set(right.span, at, length);
    if (!isLeaf()) {
      right.emptyFirstSeparator();
    }
  }

  private int commonWithLast(TreeBlock right, int at, int length) {
    TreeCursor entries = entries();
    int lastAt = 0;
    int lastLength = 0;
    while (entries.next()) {
      lastAt = entries.keyAt();
      lastLength = entries.keyLength();
    }
    int common = 0;
    int most = Math.min(lastLength, length);
    while (common < most && bytes.array()[lastAt + common] == right.bytes.array()[at + common]) {
      common++;
    }
    return common;
  }

  /** Gives an inner block's first entry the separator that the parent had for it. */
  void setFirstSeparator(byte[] separator, int offset, int length) {
    int at = firstEntryAt();
    open(at + TreeLayout.LENGTH_BYTES, length);
    bytes.array()[at] = (byte) length;
    System.arraycopy(separator, offset, bytes.array(), at + TreeLayout.LENGTH_BYTES, length);
  }

  byte[] array() {
    return bytes.array();
  }
}
