package io.fasterkv.flink.state;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.config.KeepRule;
import io.fasterkv.flink.key.LongKeyLayout;
import io.fasterkv.flink.records.DeadParts;

/**
 * Lets compaction drop expired records and the parts of removed values.
 *
 * @param expiry decides by the states' time to live
 * @param parts decides by the heads of parts
 */
public record CompactionRule(ExpiryRules expiry, DeadParts parts) implements KeepRule {
  @Override
  public boolean keepsAll() {
    return expiry.keepsAll() && parts.keepsAll();
  }

  /**
   * False: parts of removed values do no harm in memory, and a job with windows always has some.
   */
  @Override
  public boolean isEager() {
    return !expiry.keepsAll();
  }

  @Override
  public boolean keeps(ByteSpan key, ByteSpan value, Lookup store) {
    return (LongKeyLayout.isOfKeyRecord(key) || expiry.keeps(key, value, store))
        && parts.keeps(key, value, store);
  }

  @Override
  public ByteSpan trimmed(ByteSpan key, ByteSpan value) {
    return LongKeyLayout.isOfKeyRecord(key) ? value : expiry.trimmed(key, value);
  }
}
