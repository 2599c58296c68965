package io.fasterkv.flink.records.tree;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.records.base.RecordEdit;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Removes a given order key, or the first one, from a leaf. */
final class LeafRemove implements RecordEdit {

  /** The result of a removal. */
  enum Outcome {
    REMOVED,
    /** The leaf does not have the key and was not changed. */
    ABSENT,
    /** The leaf would become shorter than it should be and was not changed. */
    SPARSE
  }

  private final TreeCursor cursor = new TreeCursor();
  private KeyCopy next = new KeyCopy();
  private @Nullable OrderKey key;
  private int number;
  private int least;
  private Outcome outcome = Outcome.ABSENT;

  /** Removes a key from a leaf that must keep at least {@code shortest} bytes. */
  LeafRemove of(OrderKey orderKey, int leaf, int shortest) {
    key = orderKey;
    number = leaf;
    least = shortest;
    return this;
  }

  /**
   * Removes the first key from a leaf that must keep at least one; {@code behind} receives the
   * next.
   */
  LeafRemove ofFirst(int leaf, KeyCopy behind) {
    key = null;
    number = leaf;
    least = 0;
    next = behind;
    return this;
  }

  Outcome outcome() {
    return outcome;
  }

  @Override
  public int initialBytes() {
    throw new AssertionError("a leaf is removed from only if it is there");
  }

  @Override
  public void initial(ByteSpan value) {
    throw new AssertionError("a leaf is removed from only if it is there");
  }

  /** Finds the key and decides; changes nothing. */
  private void judge(ByteSpan leaf) {
    cursor.on(leaf, number);
    boolean found = key == null ? cursor.next() : cursor.seek(key) && cursor.compareTo(key) == 0;
    if (!found) {
      outcome = Outcome.ABSENT;
      return;
    }
    int left = leaf.length() - (cursor.end() - cursor.start());
    boolean sparse = left < least || left == TreeLayout.firstEntryAt(number);
    outcome = sparse ? Outcome.SPARSE : Outcome.REMOVED;
  }

  @Override
  public boolean inPlace(ByteSpan leaf) {
    judge(leaf);
    if (outcome == Outcome.REMOVED) {
      remove(leaf);
    }
    return true;
  }

  @Override
  public int copyBytes(ByteSpan oldLeaf) {
    return oldLeaf.length();
  }

  @Override
  public void copy(ByteSpan oldLeaf, ByteSpan newLeaf) {
    newLeaf.setTo(oldLeaf);
    inPlace(newLeaf);
  }

  private void remove(ByteSpan leaf) {
    int at = cursor.start();
    int behind = leaf.length() - cursor.end();
    if (behind > 0) {
      MemorySegment.copy(
          leaf.memory(), leaf.offset() + cursor.end(), leaf.memory(), leaf.offset() + at, behind);
    }
    leaf.setLength(at + behind);
    if (key == null) {
      cursor.on(leaf, number).next();
      next.set(leaf, cursor.keyAt(), cursor.keyLength());
    }
  }
}
