package io.fasterkv.flink.records.tree;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.base.HeapBlock;
import io.fasterkv.flink.records.base.Records;
import org.jspecify.annotations.Nullable;

/**
 * Copies of the roots of ordered sets that have several leaves. A search of a set with two levels
 * then reads no block but the leaf. Sets share a fixed number of copies, of 1 KiB each. A set drops
 * its copy before it changes any of its inner blocks. For one thread at a time.
 */
final class KeptRoots {
  private static final int ROOTS = 128;

  /** One copy; without an owner while it is read and after it was dropped. */
  private static final class Root {
    private final HeapBlock block = new HeapBlock();
    private @Nullable TimerTree owner;
  }

  private final Records records;
  private final @Nullable Root[] roots = new Root[ROOTS];

  KeptRoots(Records records) {
    this.records = records;
  }

  private Root rootOf(TimerTree tree) {
    int number = tree.number() & (ROOTS - 1);
    Root root = roots[number];
    if (root == null) {
      root = new Root();
      roots[number] = root;
    }
    return root;
  }

  /** The root of a set, which has one; valid until the next call. */
  ByteSpan get(TimerTree tree, CompositeKey blocks) {
    Root root = rootOf(tree);
    if (root.owner != tree) {
      root.owner = null;
      if (!records.read(blocks.head(), root.block)) {
        throw new IllegalStateException("the root of an ordered set is missing");
      }
      root.owner = tree;
    }
    return root.block.open(0);
  }

  void drop(TimerTree tree) {
    Root root = rootOf(tree);
    if (root.owner == tree) {
      root.owner = null;
    }
  }
}
