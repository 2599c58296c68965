package io.fasterkv.flink.records.tree;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.base.Records;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Walks a whole tree and checks its structure. */
final class TreeInvariants {
  private final Records records;
  private final CompositeKey key;
  private final int limit;
  private final Set<Integer> blocks = new HashSet<>();
  private byte @Nullable [] last;
  private int elements;

  private TreeInvariants(Records records, CompositeKey key) {
    this.records = records;
    this.key = key;
    this.limit = TreeLayout.blockLimit(records.limit());
  }

  /** Checks a tree, and returns the number of its elements. */
  static int check(Records records, CompositeKey key) {
    TreeInvariants check = new TreeInvariants(records, key);
    if (records.read(key.head(), value -> {})) {
      check.block(TreeLayout.ROOT, null, new byte[0], null);
    }
    return check.elements;
  }

  /** Checks a block whose keys must be at least {@code low} and less than {@code high}. */
  private void block(int number, @Nullable Integer level, byte[] low, byte @Nullable [] high) {
    assertThat(blocks.add(number)).as("block %s is reached once", number).isTrue();
    TreeBlock block = new TreeBlock();
    block.load(records, key, number);
    assertThat(block.length()).as("length of block %s", number).isLessThanOrEqualTo(limit);
    assertThat(block.isEmpty()).as("block %s is empty", number).isFalse();
    if (level != null) {
      assertThat(block.level()).as("level of block %s", number).isEqualTo(level);
    }
    TreeCursor cursor = block.entries();
    byte[] from = low;
    int child = -1;
    boolean first = true;
    while (cursor.next()) {
      byte[] entry =
          Arrays.copyOfRange(block.array(), cursor.keyAt(), cursor.keyAt() + cursor.keyLength());
      if (block.isLeaf()) {
        element(entry, low, high);
        continue;
      }
      if (first) {
        assertThat(entry).as("first separator of block %s", number).isEmpty();
      } else {
        assertThat(Arrays.compareUnsigned(from, entry)).isNegative();
        block(child, block.level() - 1, from, entry);
        from = entry;
      }
      first = false;
      child = cursor.child();
    }
    if (!block.isLeaf()) {
      block(child, block.level() - 1, from, high);
    }
  }

  private void element(byte[] entry, byte[] low, byte @Nullable [] high) {
    elements++;
    assertThat(Arrays.compareUnsigned(low, entry)).isLessThanOrEqualTo(0);
    assertThat(high == null || Arrays.compareUnsigned(entry, high) < 0).isTrue();
    assertThat(last == null || Arrays.compareUnsigned(last, entry) < 0).isTrue();
    last = entry;
  }
}
