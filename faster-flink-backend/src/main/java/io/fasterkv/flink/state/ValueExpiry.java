package io.fasterkv.flink.state;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.config.KeepRule.Lookup;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.records.base.ValueLayout;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;

/** Expires single values: head and pieces one by one. */
final class ValueExpiry extends StateExpiry {
  ValueExpiry(long ttlMillis, TtlTimeProvider time) {
    super(ttlMillis, time);
  }

  @Override
  boolean keeps(ByteSpan key, ByteSpan record, Lookup store) {
    if (KeyLayout.sub(key) != 0) {
      return isAlive(record, ValueLayout.PIECE_START_AT, now());
    }
    boolean isWhole = record.getByte(ValueLayout.TAG_AT) == ValueLayout.WHOLE;
    return isAlive(record, isWhole ? ValueLayout.TAG_BYTES : ValueLayout.START_AT, now());
  }

  @Override
  ByteSpan trimmed(int sub, ByteSpan record) {
    return record;
  }
}
