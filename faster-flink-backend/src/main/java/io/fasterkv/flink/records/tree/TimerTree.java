package io.fasterkv.flink.records.tree;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.base.Bytes;

/**
 * Stores one ordered set of serialized elements, in the shape that {@link TreeLayout} draws. The
 * elements are in the store. The heap has only the first order key, the one that was added last,
 * the key range of the leaf that was searched last, and the roots of some sets ({@link KeptRoots}).
 * Elements are equal if their bytes are equal. For one thread at a time.
 */
public final class TimerTree {
  /**
   * Length of the prefix that orders elements. Elements with the same prefix may differ after it.
   */
  public static final int ORDERED_BYTES = TreeLayout.LONG_PREFIX_BYTES;

  private static final int UNKNOWN = -2;
  private static final int NO_BLOCK = -1;

  private final TimerTrees trees;
  private final int keyGroup;
  private final int state;
  private final byte[] treeKey;

  /** The root's level, {@link TreeLayout#NO_ROOT} or {@link #UNKNOWN}. */
  private int levels = UNKNOWN;

  private long count = UNKNOWN;
  private final KeyCopy head = new KeyCopy();
  private boolean headKnown;
  private long headChanges;
  private long changes;

  /** The leaf that was searched last; its key range follows. */
  private int lastLeaf = NO_BLOCK;

  private final KeyCopy low = new KeyCopy();
  private final KeyCopy high = new KeyCopy();
  private int firstLeaf = NO_BLOCK;

  /** An order key that the set has, or none: Flink's windows add each timer two or three times. */
  private final KeyCopy lastAdded = new KeyCopy();

  TimerTree(TimerTrees trees, int keyGroup, int state, byte[] treeKey) {
    this.trees = trees;
    this.keyGroup = keyGroup;
    this.state = state;
    this.treeKey = treeKey;
  }

  /** A number that differs for sets of different key groups and, mostly, states. */
  int number() {
    return keyGroup + 31 * state;
  }

  private CompositeKey blocks() {
    return trees.select(keyGroup, state, treeKey);
  }

  private int levels() {
    if (levels == UNKNOWN) {
      levels = trees.level(blocks().head());
    }
    return levels;
  }

  public boolean isEmpty() {
    return levels() == TreeLayout.NO_ROOT;
  }

  /** Increases whenever the first element changed or may have changed. */
  public long headChanges() {
    return headChanges;
  }

  /** Increases with each change of the set. */
  long changes() {
    return changes;
  }

  /** Adds an element; returns false if the set already has it. */
  public boolean add(byte[] element, int offset, int length) {
    OrderKey order = trees.order().ofElement(element, offset, length);
    if (isLastAdded(order)) {
      return false;
    }
    lastAdded.setNone();
    if (!insert(order)) {
      lastAdded.set(order);
      return false;
    }
    if (order.isLong()) {
      trees.putLong(keyGroup, state, element, offset, length);
    }
    lastAdded.set(order);
    changed(1);
    if (headKnown && (head.isNone() || head.compareTo(order) > 0)) {
      head.set(order);
      headChanges++;
    } else if (!headKnown) {
      headChanges++;
    }
    return true;
  }

  private boolean isLastAdded(OrderKey order) {
    return !lastAdded.isNone() && lastAdded.compareTo(order) == 0;
  }

  private boolean insert(OrderKey order) {
    if (levels() == TreeLayout.NO_ROOT) {
      levels = TreeLayout.LEAF;
      count = 0;
    }
    int leaf = leafOf(order);
    LeafInsert edit = trees.insert().of(order, leaf, trees.limit());
    trees.records().edit(blocks().record(leaf), edit);
    return switch (edit.outcome()) {
      case INSERTED -> true;
      case PRESENT -> false;
      case FULL -> {
        forgetBlocks();
        levels = trees.change().insert(blocks(), order, levels);
        yield true;
      }
    };
  }

  private int leafOf(OrderKey order) {
    if (levels == TreeLayout.LEAF) {
      return TreeLayout.ROOT;
    }
    boolean inRange =
        lastLeaf != NO_BLOCK
            && (low.isNone() || low.compareTo(order) <= 0)
            && (high.isNone() || high.compareTo(order) > 0);
    if (!inRange) {
      lastLeaf = trees.leaf(this, blocks(), levels, order, low, high);
    }
    return lastLeaf;
  }

  /** Called before inner blocks change. */
  private void forgetBlocks() {
    trees.roots().drop(this, number());
    lastLeaf = NO_BLOCK;
    firstLeaf = NO_BLOCK;
  }

  private void changed(int by) {
    changes++;
    if (count != UNKNOWN) {
      count += by;
    }
  }

  /** Removes an element; returns false if the set does not have it. */
  public boolean remove(byte[] element, int offset, int length) {
    OrderKey order = trees.order().ofElement(element, offset, length);
    if (levels() == TreeLayout.NO_ROOT) {
      return false;
    }
    if (isLastAdded(order)) {
      lastAdded.setNone();
    }
    int leaf = leafOf(order);
    int least = leaf == TreeLayout.ROOT ? 0 : TreeLayout.sparse(trees.limit());
    LeafRemove edit = trees.remove().of(order, leaf, least);
    trees.records().edit(blocks().record(leaf), edit);
    if (edit.outcome() == LeafRemove.Outcome.ABSENT) {
      return false;
    }
    if (edit.outcome() == LeafRemove.Outcome.SPARSE) {
      removeLast(order);
    }
    if (order.isLong()) {
      trees.removeLong(keyGroup, state, order.bytes());
    }
    changed(-1);
    if (!headKnown || head.compareTo(order) == 0) {
      headKnown = false;
      headChanges++;
    }
    return true;
  }

  private void removeLast(OrderKey order) {
    forgetBlocks();
    levels = trees.change().remove(blocks(), order, levels);
  }

  /**
   * Reads the first element.
   *
   * @return false if the set is empty
   */
  public boolean first(Bytes into) {
    findHead();
    if (head.isNone()) {
      return false;
    }
    trees.element(keyGroup, state, head.bytes(), head.length(), into);
    return true;
  }

  private void findHead() {
    if (headKnown) {
      return;
    }
    head.setNone();
    if (levels() != TreeLayout.NO_ROOT) {
      trees.readFirst(blocks().record(firstLeaf()), firstLeaf(), head);
    }
    headKnown = true;
  }

  private int firstLeaf() {
    if (levels == TreeLayout.LEAF) {
      return TreeLayout.ROOT;
    }
    if (firstLeaf == NO_BLOCK) {
      lastLeaf = trees.leaf(this, blocks(), levels, null, low, high);
      firstLeaf = lastLeaf;
    }
    return firstLeaf;
  }

  /** Removes the first element; false if the set is empty. */
  public boolean removeFirst() {
    findHead();
    if (head.isNone()) {
      return false;
    }
    lastAdded.setNone();
    if (TreeLayout.isLong(head.length())) {
      trees.removeLong(keyGroup, state, head.bytes());
    }
    int leaf = firstLeaf();
    LeafRemove edit = trees.remove().ofFirst(leaf, trees.behind());
    trees.records().edit(blocks().record(leaf), edit);
    if (edit.outcome() == LeafRemove.Outcome.REMOVED) {
      head.set(trees.behind());
    } else {
      removeLast(trees.order().of(head.bytes(), 0, head.length()));
      headKnown = false;
    }
    changed(-1);
    headChanges++;
    return true;
  }

  /** The number of elements; counts them once if the set was not filled through this object. */
  public long count() {
    if (count == UNKNOWN) {
      long counted = 0;
      TreeScan scan = scan();
      while (scan.next()) {
        counted++;
      }
      count = counted;
    }
    return count;
  }

  /** Iterates over the elements in order; see {@link TreeScan}. */
  public TreeScan scan() {
    return new TreeScan(this);
  }

  /** Reads the order keys of one leaf, and the first order key of the next leaf. */
  boolean readLeaf(OrderKey from, TreeBlock into, KeyCopy next) {
    if (levels() == TreeLayout.NO_ROOT) {
      return false;
    }
    CompositeKey key = blocks();
    into.load(trees.records(), key, trees.leaf(this, key, levels, from, trees.behind(), next));
    return true;
  }

  void element(byte[] orderKey, int length, Bytes into) {
    trees.element(keyGroup, state, orderKey, length, into);
  }
}
