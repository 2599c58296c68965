package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.config.KeepRule;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.key.LongKeyLayout;
import io.fasterkv.flink.records.base.PartLayout;
import io.fasterkv.flink.records.base.SiblingKey;
import io.fasterkv.flink.records.base.ValueIncarnations;
import io.fasterkv.flink.records.tree.TreeLayout;

/**
 * Lets compaction drop the parts of removed values, which are parts whose head is absent or has
 * another incarnation, and the key records of values without a head. Safe for use by several
 * compacting threads.
 */
public final class DeadParts implements KeepRule {
  private final ValueIncarnations incarnations;
  private final SiblingKey head = new SiblingKey();

  public DeadParts(ValueIncarnations incarnations) {
    this.incarnations = incarnations;
  }

  @Override
  public boolean keepsAll() {
    return incarnations.keepsAll();
  }

  @Override
  public boolean keeps(ByteSpan key, ByteSpan value, Lookup store) {
    if (LongKeyLayout.isOfKeyRecord(key)) {
      return hasValue(key, store);
    }
    return KeyLayout.sub(key) == 0
        || isOfTree(key)
        || !incarnations.mayBeDropped(
            PartLayout.ofPart(value), () -> incarnationOfHead(key, store));
  }

  private static boolean hasValue(ByteSpan keyRecord, Lookup store) {
    byte[] head = keyRecord.toArray();
    LongKeyLayout.toState(head);
    KeyLayout.putSub(head, head.length, 0);
    return store.find(ByteSpan.of(head)) != null;
  }

  private boolean isOfTree(ByteSpan key) {
    return incarnations.areTrees(KeyLayout.state(key)) && TreeLayout.isBlock(key);
  }

  private synchronized long incarnationOfHead(ByteSpan part, Lookup store) {
    ByteSpan found = store.find(head.of(part, 0));
    return found == null ? PartLayout.NONE : PartLayout.ofHead(found);
  }
}
