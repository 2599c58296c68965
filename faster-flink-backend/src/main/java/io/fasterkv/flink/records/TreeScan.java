package io.fasterkv.flink.records;

/**
 * Walks over the elements of an ordered set in their order. The set may change meanwhile: an
 * element that is not touched is seen exactly once, one that is added or removed behind the scan's
 * place is seen or not seen accordingly. The heap holds one leaf. For the thread of the set.
 */
public final class TreeScan {
  private final ByteTree tree;
  private final TreeBlock leaf = new TreeBlock();
  private final KeyCopy nextLeaf = new KeyCopy();
  private final OrderKey place = new OrderKey().of(new byte[0], 0, 0);
  private TreeCursor cursor = new TreeCursor();
  private boolean started;
  private boolean seen;
  private boolean ended;
  private long changes;
  private final KeyCopy current = new KeyCopy();

  TreeScan(ByteTree tree) {
    this.tree = tree;
  }

  /** Steps to the next element; false at the end, for good. */
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
      goOn();
    }
    while (!ended) {
      if (cursor.seek(place) && (!seen || cursor.compareTo(place) > 0 || cursor.next())) {
        return take();
      }
      goOn();
    }
    return false;
  }

  /** Goes on with the next leaf. */
  private void goOn() {
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
