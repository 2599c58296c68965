package io.fasterkv.flink.records;

import io.fasterkv.flink.key.CompositeKey;

/**
 * Changes of a tree that more than one block takes part in: splits, merges, and the removal of
 * empty blocks. Works on copies of the blocks from the root down to one leaf.
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

  /** Loads the blocks that a key belongs to. */
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
   * Inserts a key that its leaf has no room for.
   *
   * @param levels the root's level
   * @return the root's level now
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
   * @return by how much they have moved within their block
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
   * Splits a block that is not the root in two.
   *
   * @return where its parent has got a new entry
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

  /** A block number that is free; the root has to be stored after it. */
  private int allocate(CompositeKey key) {
    int block = root().lastBlock();
    do {
      block = block == Integer.MAX_VALUE ? 1 : block + 1;
    } while (records.read(key.record(block), value -> {}));
    root().setLastBlock(block);
    return block;
  }

  /**
   * Removes a key that is there.
   *
   * @param levels the root's level
   * @return the root's level now, or {@link ByteTree#NO_ROOT}
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

  /** Merges a sparse block with the one right of it, or left of it, under the same parent. */
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

  /** Stores the root, which takes the place of its child while it has only one. */
  private int storeRoot(CompositeKey key) {
    TreeBlock root = root();
    if (root.isEmpty()) {
      records.delete(key.record(TreeLayout.ROOT));
      return ByteTree.NO_ROOT;
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
