package io.fasterkv.flink.records.tree;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.base.Records;

/**
 * Changes more than one block of a tree: splits, merges, and the removal of empty blocks. Works on
 * copies of the blocks from the root down to one leaf.
 */
final class TreeChange {
  private final Records records;
  private final int limit;
  private final TreeBlock[] path = new TreeBlock[TreeLayout.MOST_LEVELS];
  private final TreeBlock other = new TreeBlock();
  private final KeyCopy separator = new KeyCopy();
  private int rootLevel;

  TreeChange(Records records) {
    this.records = records;
    this.limit = TreeLayout.blockLimit(records.limit());
  }

  private TreeBlock at(int level) {
    if (path[level] == null) {
      path[level] = new TreeBlock();
    }
    return path[level];
  }

  private TreeBlock root() {
    return at(rootLevel);
  }

  /** Loads the blocks from the root down to the leaf that a key belongs to. */
  private void load(CompositeKey key, OrderKey order, int levels) {
    rootLevel = levels;
    int block = TreeLayout.ROOT;
    for (int level = levels; level > TreeLayout.LEAF; level--) {
      at(level).load(records, key, block);
      block = at(level).childFor(order).child();
    }
    at(TreeLayout.LEAF).load(records, key, block);
  }

  /**
   * Inserts a key for which its leaf has no room.
   *
   * @param levels the root's level
   * @return the root's new level
   */
  int insert(CompositeKey key, OrderKey order, int levels) {
    load(key, order, levels);
    TreeBlock leaf = at(TreeLayout.LEAF);
    TreeCursor place = leaf.entries();
    place.seek(order);
    int insertedAt = place.start();
    leaf.insert(insertedAt, order);
    int level = TreeLayout.LEAF;
    boolean split = false;
    while (at(level).length() > limit) {
      if (at(level).isRoot()) {
        insertedAt += raiseRoot(key);
      }
      insertedAt = split(key, level, insertedAt);
      split = true;
      level++;
    }
    at(level).store(records, key, TreeLayout.room(at(level).length(), limit));
    if (split && !at(level).isRoot()) {
      root().store(records, key, limit);
    }
    return rootLevel;
  }

  /**
   * Puts a new root above the root, whose entries move to a block of their own.
   *
   * @return by how many bytes the entries have moved within their block
   */
  private int raiseRoot(CompositeKey key) {
    TreeBlock old = root();
    int level = old.level();
    if (level + 1 == TreeLayout.MOST_LEVELS) {
      throw new IllegalStateException("an ordered set has too many levels: levels=" + level);
    }
    TreeBlock child = new TreeBlock();
    child.make(allocate(key), level);
    int shift = child.length() - (old.length() - old.entryBytes());
    int lastBlock = old.lastBlock();
    old.moveAllTo(child);
    old.make(TreeLayout.ROOT, level + 1);
    old.setLastBlock(lastBlock);
    old.insert(old.length(), new byte[0], 0, 0, child.number());
    path[level] = child;
    path[level + 1] = old;
    rootLevel = level + 1;
    return shift;
  }

  /**
   * Splits a block that is not the root.
   *
   * @return position of the new entry in the parent
   */
  private int split(CompositeKey key, int level, int insertedAt) {
    TreeBlock left = at(level);
    int at = left.splitPoint(insertedAt);
    other.make(allocate(key), level);
    left.moveTo(other, at);
    left.separatorTo(other, separator);
    other.store(records, key, limit);
    left.store(records, key, limit);
    TreeBlock parent = at(level + 1);
    int newAt = parent.entryOf(left.number()).end();
    parent.insert(newAt, separator.bytes(), 0, separator.length(), other.number());
    return newAt;
  }

  /** Allocates a block number; the root must be stored after it. */
  private int allocate(CompositeKey key) {
    int block = root().lastBlock();
    do {
      block = block == Integer.MAX_VALUE ? 1 : block + 1;
    } while (records.read(key.record(block), value -> {}));
    root().setLastBlock(block);
    return block;
  }

  /**
   * Removes a key that the tree has.
   *
   * @param levels the root's level
   * @return the root's new level, or {@link TreeLayout#NO_ROOT}
   */
  int remove(CompositeKey key, OrderKey order, int levels) {
    load(key, order, levels);
    TreeBlock leaf = at(TreeLayout.LEAF);
    TreeCursor entry = leaf.entries();
    entry.seek(order);
    leaf.cut(entry.start(), entry.end());
    int level = TreeLayout.LEAF;
    while (!at(level).isRoot() && (dropIfEmpty(key, level) || merge(key, level))) {
      level++;
    }
    if (at(level).isRoot()) {
      return storeRoot(key);
    }
    at(level).store(records, key, 0);
    return rootLevel;
  }

  private boolean dropIfEmpty(CompositeKey key, int level) {
    TreeBlock block = at(level);
    if (!block.isEmpty()) {
      return false;
    }
    records.delete(key.record(block.number()));
    at(level + 1).removeChild(block.number());
    return true;
  }

  /** Merges a sparse block with its right or left neighbour under the same parent. */
  private boolean merge(CompositeKey key, int level) {
    TreeBlock block = at(level);
    if (block.length() >= TreeLayout.sparse(limit)) {
      return false;
    }
    TreeBlock parent = at(level + 1);
    int before = childBefore(parent, block.number());
    TreeCursor entry = parent.entryOf(block.number());
    if (entry.next()) {
      other.load(records, key, entry.child());
      if (merge(key, parent, block, other)) {
        return true;
      }
    }
    if (before != TreeLayout.ROOT) {
      other.load(records, key, before);
      return merge(key, parent, other, block);
    }
    return false;
  }

  private static int childBefore(TreeBlock parent, int child) {
    int before = TreeLayout.ROOT;
    TreeCursor entries = parent.entries();
    while (entries.next() && entries.child() != child) {
      before = entries.child();
    }
    return before;
  }

  private boolean merge(CompositeKey key, TreeBlock parent, TreeBlock left, TreeBlock right) {
    TreeCursor entry = parent.entryOf(right.number());
    int separatorBytes = left.isLeaf() ? 0 : entry.keyLength();
    if (left.length() + right.entryBytes() + separatorBytes > TreeLayout.merged(limit)) {
      return false;
    }
    if (!left.isLeaf()) {
      right.setFirstSeparator(parent.array(), entry.keyAt(), entry.keyLength());
    }
    right.moveAllTo(left);
    left.store(records, key, 0);
    records.delete(key.record(right.number()));
    parent.removeChild(right.number());
    return true;
  }

  /** Stores the root; while it has only one child, the child's contents replace it. */
  private int storeRoot(CompositeKey key) {
    TreeBlock root = root();
    if (root.isEmpty()) {
      records.delete(key.record(TreeLayout.ROOT));
      return TreeLayout.NO_ROOT;
    }
    while (!root.isLeaf()) {
      TreeCursor only = root.entries();
      only.next();
      int child = only.child();
      if (only.next()) {
        break;
      }
      other.load(records, key, child);
      if (other.entryBytes() + TreeLayout.firstEntryAt(TreeLayout.ROOT) > limit) {
        break;
      }
      int lastBlock = root.lastBlock();
      root.make(TreeLayout.ROOT, other.level());
      root.setLastBlock(lastBlock);
      other.moveAllTo(root);
      records.delete(key.record(child));
      rootLevel = root.level();
    }
    root.store(records, key, 0);
    return rootLevel;
  }
}
