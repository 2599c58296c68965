package io.fasterkv.operation.move;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.config.KeepRule;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.search.VersionWalk;
import org.jspecify.annotations.Nullable;

/**
 * Applies a store's {@link KeepRule} to records, and reads the other keys that the rule needs,
 * which may take reads from disk. So the caller must hold no epoch, and no lock that an operation
 * takes. One thread at a time.
 */
public final class KeepQuestion implements KeepRule.Lookup, AutoCloseable {
  private final Engine engine;
  private final KeepRule rule;

  /** Created when the rule first reads a key. */
  private @Nullable VersionWalk walk;

  public KeepQuestion(Engine engine, KeepRule rule) {
    this.engine = engine;
    this.rule = rule;
  }

  /** Whether the rule keeps all records for now. */
  public boolean keepsAll() {
    return rule.keepsAll();
  }

  /** Whether the record must be kept. */
  public boolean keeps(ByteSpan key, ByteSpan value) {
    try {
      return rule.keeps(key, value, this);
    } finally {
      if (walk != null) {
        walk.release();
      }
    }
  }

  /** The part of a kept record's value that is still needed. A {@code long} cannot be shortened. */
  public ByteSpan trimmed(ByteSpan key, ByteSpan value) {
    if (!engine.layout().hasLengths()) {
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
    long begin = log.pins().pinBriefly();
    try {
      walk.start(key, begin);
      if (!walk.next() || walk.isTombstone()) {
        return null;
      }
      return walk.isDelta() ? walk.mergedValue() : walk.value();
    } finally {
      log.pins().unpinBrief(begin);
    }
  }

  @Override
  public void close() {
    if (walk != null) {
      walk.close();
    }
  }
}
