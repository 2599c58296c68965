package io.fasterkv.flink.records.tree;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.records.base.RecordEdit;
import java.lang.foreign.MemorySegment;

/** Inserts an order key into a leaf. */
final class LeafInsert implements RecordEdit {

  /** The result of an insert. */
  enum Outcome {
    /** The key is new and was inserted. */
    INSERTED,
    /** The leaf already has the key and was not changed. */
    PRESENT,
    /** The leaf would become too long and was not changed. */
    FULL
  }

  private final TreeCursor cursor = new TreeCursor();
  private OrderKey key = new OrderKey();
  private int number;
  private int limit;
  private Outcome outcome = Outcome.PRESENT;

  /** Sets the key to insert and the leaf, which may grow to {@code most} bytes. */
  LeafInsert of(OrderKey orderKey, int leaf, int most) {
    key = orderKey;
    number = leaf;
    limit = most;
    return this;
  }

  Outcome outcome() {
    return outcome;
  }

  private int entryBytes() {
    return TreeLayout.LENGTH_BYTES + key.length();
  }

  /** The first element of a tree creates its root. */
  @Override
  public int initialBytes() {
    return TreeLayout.room(TreeLayout.firstEntryAt(number) + entryBytes(), limit);
  }

  @Override
  public void initial(ByteSpan leaf) {
    int first = TreeLayout.firstEntryAt(number);
    leaf.setLength(first);
    leaf.putByte(TreeLayout.LEVEL_AT, TreeLayout.LEAF);
    leaf.putInt(TreeLayout.LAST_BLOCK_AT, TreeLayout.ROOT);
    write(leaf, first);
    outcome = Outcome.INSERTED;
  }

  /** Finds the position of the key and decides; changes nothing. */
  private void judge(ByteSpan leaf) {
    if (cursor.on(leaf, number).seek(key) && cursor.compareTo(key) == 0) {
      outcome = Outcome.PRESENT;
    } else {
      outcome = leaf.length() + entryBytes() > limit ? Outcome.FULL : Outcome.INSERTED;
    }
  }

  @Override
  public boolean inPlace(ByteSpan leaf) {
    judge(leaf);
    if (outcome != Outcome.INSERTED) {
      return true;
    }
    if (leaf.length() + entryBytes() > leaf.capacity()) {
      return false;
    }
    write(leaf, cursor.start());
    return true;
  }

  /** A leaf that already has the key, or has no room for it, is not copied. */
  @Override
  public boolean makesSuccessor(ByteSpan oldLeaf) {
    judge(oldLeaf);
    return outcome == Outcome.INSERTED;
  }

  @Override
  public int copyBytes(ByteSpan oldLeaf) {
    judge(oldLeaf);
    return outcome == Outcome.INSERTED
        ? TreeLayout.room(oldLeaf.length() + entryBytes(), limit)
        : oldLeaf.length();
  }

  @Override
  public void copy(ByteSpan oldLeaf, ByteSpan newLeaf) {
    newLeaf.setTo(oldLeaf);
    judge(newLeaf);
    if (outcome == Outcome.INSERTED) {
      write(newLeaf, cursor.start());
    }
  }

  private void write(ByteSpan leaf, int at) {
    int behind = leaf.length() - at;
    int entryBytes = entryBytes();
    leaf.setLength(leaf.length() + entryBytes);
    if (behind > 0) {
      MemorySegment.copy(
          leaf.memory(),
          leaf.offset() + at,
          leaf.memory(),
          leaf.offset() + at + entryBytes,
          behind);
    }
    leaf.putByte(at, (byte) key.length());
    leaf.copyFrom(at + TreeLayout.LENGTH_BYTES, key.bytes(), 0, key.length());
  }
}
