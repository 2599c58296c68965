package io.fasterkv.flink.records.tree;

import io.fasterkv.flink.records.base.Bytes;

/**
 * Iterates over the elements of an ordered set in order. The set may change during the scan: an
 * element that is not changed is returned exactly once; an addition or removal after the scan's
 * position takes effect. The heap holds one leaf. For the set's thread.
 */
public final class TreeScan {
  private final TimerTree tree;
  private final TreeBlock leaf = new TreeBlock();
  private final KeyCopy nextLeaf = new KeyCopy();
  private final OrderKey place = new OrderKey().of(new byte[0], 0, 0);
  private TreeCursor cursor = new TreeCursor();
  private boolean started;
  private boolean seen;
  private boolean ended;
  private long changes;
  private final KeyCopy current = new KeyCopy();

  TreeScan(TimerTree tree) {
    this.tree = tree;
  }

  /** Moves to the next element; returns false at the end, and from then on. */
  public boolean next() {
    if (ended) {
      return false;
    }
    if (started && changes == tree.changes() && cursor.next()) {
      return take();
    }
    if (!started || changes != tree.changes()) {
      load();
    } else {
      advance();
    }
    while (!ended) {
      if (cursor.seek(place) && (!seen || cursor.compareTo(place) > 0 || cursor.next())) {
        return take();
      }
      advance();
    }
    return false;
  }

  /** Continues with the next leaf. */
  private void advance() {
    if (nextLeaf.isNone()) {
      ended = true;
    } else {
      place.of(nextLeaf.bytes(), 0, nextLeaf.length());
      seen = false;
      load();
    }
  }

  private void load() {
    started = true;
    changes = tree.changes();
    if (tree.readLeaf(place, leaf, nextLeaf)) {
      cursor = leaf.entries();
    } else {
      ended = true;
    }
  }

  private boolean take() {
    current.set(leaf.span(), cursor.keyAt(), cursor.keyLength());
    place.of(current.bytes(), 0, current.length());
    seen = true;
    return true;
  }

  /** Reads the element. */
  public void element(Bytes into) {
    tree.element(current.bytes(), current.length(), into);
  }
}
