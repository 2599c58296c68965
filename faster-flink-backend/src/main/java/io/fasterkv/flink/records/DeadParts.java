package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.KeepRule;
import io.fasterkv.flink.key.KeyLayout;
import java.lang.foreign.MemorySegment;

/**
 * Lets compaction drop the parts of values that are gone: those whose head is not there, or has
 * another identity. Safe for use by several threads that compact.
 */
public final class DeadParts implements KeepRule {
  private final Identities identities;
  private final ByteSpan head = new ByteSpan();
  private byte[] headKey = new byte[0];

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
    int length = part.length();
    if (headKey.length < length) {
      headKey = new byte[2 * length];
    }
    part.copyTo(0, headKey, 0, length);
    KeyLayout.putHead(headKey, length);
    ByteSpan found = store.find(head.wrap(MemorySegment.ofArray(headKey), 0, length, length));
    return found == null ? PartLayout.NONE : PartLayout.ofHead(found);
  }
}
