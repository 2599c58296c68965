package io.fasterkv.flink.records.tree;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.base.RecordReader;
import io.fasterkv.flink.records.base.Records;
import io.fasterkv.flink.records.base.ValueLayout;
import io.fasterkv.flink.records.base.Values;
import org.jspecify.annotations.Nullable;

/**
 * Opens ordered sets and owns what they share: buffers, edits and records. For one thread at a
 * time.
 */
public final class TimerTrees {
  private static final byte[] NOTHING = new byte[0];

  private final Records records;
  private final Values values;
  private final CompositeKey key = new CompositeKey();
  private final CompositeKey longKey = new CompositeKey();
  private final Bytes longValue = new Bytes();
  private final int limit;
  private final OrderKey order = new OrderKey();
  private final TreeSearch search = new TreeSearch();
  private final LeafInsert insert = new LeafInsert();
  private final LeafRemove remove = new LeafRemove();
  private final TreeChange change;
  private final KeyCopy behind = new KeyCopy();
  private final FirstKey firstKey = new FirstKey();
  private final KeptRoots roots;

  public TimerTrees(Records records, Values values) {
    this.records = records;
    this.values = values;
    this.limit = TreeLayout.blockLimit(records.limit());
    this.change = new TreeChange(records);
    this.roots = new KeptRoots(records);
  }

  /**
   * Opens a set. There must be one object for each set at a time.
   *
   * @param treeKey the key of the set's records; must not be 32 bytes long
   */
  public TimerTree tree(int keyGroup, int state, byte[] treeKey) {
    records.incarnations().noteTrees(state);
    return new TimerTree(this, keyGroup, state, treeKey);
  }

  Records records() {
    return records;
  }

  int limit() {
    return limit;
  }

  OrderKey order() {
    return order;
  }

  TreeSearch search() {
    return search;
  }

  KeptRoots roots() {
    return roots;
  }

  LeafInsert insert() {
    return insert;
  }

  LeafRemove remove() {
    return remove;
  }

  TreeChange change() {
    return change;
  }

  /** Scratch space, valid until the next call. */
  KeyCopy behind() {
    return behind;
  }

  /** Selects the record keys of a set's blocks; valid until the next call. */
  CompositeKey select(int keyGroup, int state, byte[] treeKey) {
    key.setKey(keyGroup, treeKey, 0, treeKey.length);
    return key.select(state, NOTHING, 0, 0);
  }

  private CompositeKey selectLong(int keyGroup, int state, byte[] orderKey) {
    longKey.setKey(keyGroup, orderKey, TreeLayout.LONG_PREFIX_BYTES, TreeLayout.DIGEST_BYTES);
    return longKey.select(state, NOTHING, 0, 0);
  }

  /** Stores a long element, whose order key has already been computed. */
  void putLong(int keyGroup, int state, byte[] element, int offset, int length) {
    longValue.clear();
    longValue.append(ValueLayout.WHOLE);
    longValue.append(element, offset, length);
    values.put(selectLong(keyGroup, state, order.bytes()), longValue.array(), longValue.length());
    longValue.clear();
  }

  void removeLong(int keyGroup, int state, byte[] orderKey) {
    values.remove(selectLong(keyGroup, state, orderKey));
  }

  /** Reads the element of an order key. */
  void element(int keyGroup, int state, byte[] orderKey, int length, Bytes into) {
    into.clear();
    if (!TreeLayout.isLong(length)) {
      into.append(orderKey, 0, length);
      return;
    }
    if (!values.get(selectLong(keyGroup, state, orderKey), longValue)) {
      throw new IllegalStateException(
          "a long element of an ordered set is missing: keyGroup=" + keyGroup);
    }
    into.append(
        longValue.array(), ValueLayout.TAG_BYTES, longValue.length() - ValueLayout.TAG_BYTES);
    longValue.clear();
  }

  /** The level of a block, or {@link TreeLayout#NO_ROOT} if there is none. */
  int level(ByteSpan block) {
    LevelReader reader = new LevelReader();
    return records.read(block, reader) ? reader.level : TreeLayout.NO_ROOT;
  }

  private static final class LevelReader implements RecordReader {
    private int level;

    @Override
    public void read(ByteSpan value) {
      level = value.getByte(TreeLayout.LEVEL_AT);
    }
  }

  /** Reads the first order key of a leaf. */
  void readFirst(ByteSpan leafKey, int leaf, KeyCopy into) {
    if (!records.read(leafKey, firstKey.of(leaf, into))) {
      throw new IllegalStateException("a block of an ordered set is missing: block=" + leaf);
    }
  }

  private static final class FirstKey implements RecordReader {
    private final TreeCursor cursor = new TreeCursor();
    private int number;
    private KeyCopy into = new KeyCopy();

    FirstKey of(int leaf, KeyCopy target) {
      number = leaf;
      into = target;
      return this;
    }

    @Override
    public void read(ByteSpan leaf) {
      cursor.on(leaf, number).next();
      into.set(leaf, cursor.keyAt(), cursor.keyLength());
    }
  }

  /** Finds the leaf that a key belongs to, or the first leaf. */
  int leaf(
      TimerTree tree,
      CompositeKey blocks,
      int levels,
      @Nullable OrderKey wanted,
      KeyCopy low,
      KeyCopy high) {
    search.start(wanted, low, high);
    if (levels > TreeLayout.LEAF) {
      search.in(TreeLayout.ROOT).read(roots.get(tree, tree.number(), blocks));
    }
    for (int level = levels - 1; level > TreeLayout.LEAF; level--) {
      if (!records.read(blocks.record(search.child()), search.in(search.child()))) {
        throw new IllegalStateException(
            "a block of an ordered set is missing: block=" + search.child());
      }
    }
    return search.child();
  }
}
