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
    private @Nullable Object owner;
  }

  private final Records records;
  private final @Nullable Root[] roots = new Root[ROOTS];

  KeptRoots(Records records) {
    this.records = records;
  }

  private Root copy(int number) {
    int place = number & (ROOTS - 1);
    Root root = roots[place];
    if (root == null) {
      root = new Root();
      roots[place] = root;
    }
    return root;
  }

  /**
   * The root of a set that has one; valid until the next call.
   *
   * @param set identifies the set
   * @param number selects the copy; should differ from the numbers of other sets
   */
  ByteSpan get(Object set, int number, CompositeKey blocks) {
    Root root = copy(number);
    if (root.owner != set) {
      root.owner = null;
      if (!records.read(blocks.head(), root.block)) {
        throw new IllegalStateException("the root of an ordered set is missing");
      }
      root.owner = set;
    }
    return root.block.open(0);
  }

  void drop(Object set, int number) {
    Root root = copy(number);
    if (root.owner == set) {
      root.owner = null;
    }
  }
}
