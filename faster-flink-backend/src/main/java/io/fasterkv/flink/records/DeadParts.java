package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.KeepRule;
import io.fasterkv.flink.key.KeyLayout;

/**
 * Lets compaction drop the parts of values that are gone: those whose head is not there, or has
 * another identity. Safe for use by several threads that compact.
 */
public final class DeadParts implements KeepRule {
  private final Identities identities;
  private final SiblingKey head = new SiblingKey();

  public DeadParts(Identities identities) {
    this.identities = identities;
  }

  @Override
  public boolean keepsAll() {
    return identities.keepsAll();
  }

  @Override
  public boolean keeps(ByteSpan key, ByteSpan value, Lookup store) {
    return KeyLayout.sub(key) == 0
        || isOfTree(key)
        || !identities.mayGo(PartLayout.ofPart(value), () -> identityOfHead(key, store));
  }

  private boolean isOfTree(ByteSpan key) {
    return identities.areTrees(KeyLayout.state(key)) && TreeLayout.isBlock(key);
  }

  private synchronized long identityOfHead(ByteSpan part, Lookup store) {
    ByteSpan found = store.find(head.of(part, 0));
    return found == null ? PartLayout.NONE : PartLayout.ofHead(found);
  }
}
