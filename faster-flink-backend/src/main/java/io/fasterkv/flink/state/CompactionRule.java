package io.fasterkv.flink.state;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.KeepRule;
import io.fasterkv.flink.records.DeadParts;

/**
 * Lets compaction drop what has expired, and the parts of what is gone.
 *
 * @param expiry by the states' times to live
 * @param parts by their heads
 */
public record CompactionRule(ExpiryRules expiry, DeadParts parts) implements KeepRule {
  @Override
  public boolean keepsAll() {
    return expiry.keepsAll() && parts.keepsAll();
  }

  /** Parts of what is gone do no harm in memory, and a job of windows always has some. */
  @Override
  public boolean isEager() {
    return !expiry.keepsAll();
  }

  @Override
  public boolean keeps(ByteSpan key, ByteSpan value, Lookup store) {
    return expiry.keeps(key, value, store) && parts.keeps(key, value, store);
  }

  @Override
  public ByteSpan trimmed(ByteSpan key, ByteSpan value) {
    return expiry.trimmed(key, value);
  }
}
