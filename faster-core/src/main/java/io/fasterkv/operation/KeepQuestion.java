package io.fasterkv.operation;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.KeepRule;
import io.fasterkv.log.HybridLog;
import io.fasterkv.record.SpanRecord;
import org.jspecify.annotations.Nullable;

/**
 * Asks a store's {@link KeepRule} about records, and reads the other keys that the rule wants to
 * see, which may take reads from disk. So the caller holds no epoch, and no lock that an operation
 * takes. One thread at a time.
 */
public final class KeepQuestion implements KeepRule.Lookup, AutoCloseable {
  private final Engine engine;
  private final KeepRule rule;

  /** From the first time that the rule wants to see a key. */
  private @Nullable VersionWalk walk;

  public KeepQuestion(Engine engine, KeepRule rule) {
    this.engine = engine;
    this.rule = rule;
  }

  /** Whether no record need be asked about for now. */
  public boolean keepsAll() {
    return rule.keepsAll();
  }

  /** Whether the record has to stay. */
  public boolean keeps(ByteSpan key, ByteSpan value) {
    try {
      return rule.keeps(key, value, this);
    } finally {
      if (walk != null) {
        walk.release();
      }
    }
  }

  /** What is still needed of a record that has to stay. A {@code long} cannot be shorter. */
  public ByteSpan trimmed(ByteSpan key, ByteSpan value) {
    if (engine.layout() != SpanRecord.INSTANCE) {
      return value;
    }
    ByteSpan needed = rule.trimmed(key, value);
    if (needed.length() > value.length()) {
      throw new IllegalArgumentException(
          "a keep rule must not make a value longer: bytes="
              + needed.length()
              + ", allowed=0 to "
              + value.length());
    }
    return needed;
  }

  @Override
  public @Nullable ByteSpan find(ByteSpan key) {
    if (walk == null) {
      walk = new VersionWalk(engine);
    }
    HybridLog log = engine.log();
    long begin = log.holds().pinBriefly();
    try {
      walk.start(key, begin);
      if (!walk.next() || walk.isTombstone()) {
        return null;
      }
      return walk.isDelta() ? walk.mergedValue() : walk.value();
    } finally {
      log.holds().unpinBrief(begin);
    }
  }

  @Override
  public void close() {
    if (walk != null) {
      walk.close();
    }
  }
}
