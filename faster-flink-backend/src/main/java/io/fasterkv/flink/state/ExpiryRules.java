package io.fasterkv.flink.state;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.KeepRule;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.records.EntryLife;
import io.fasterkv.flink.records.Identities;
import java.util.Arrays;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.runtime.state.ttl.TtlStateFactory.TtlSerializer;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.jspecify.annotations.Nullable;

/**
 * Lets compaction drop what has expired, by the newest registration of each state. The task's
 * thread sets the rules, the thread that compacts asks them: it sees a rule or its successor, and
 * what has expired by either may go.
 */
public final class ExpiryRules {
  private final TtlTimeProvider time;
  private final Identities identities;

  /** By the states' numbers; replaced as a whole. */
  private volatile @Nullable StateExpiry[] rules = new StateExpiry[0];

  private volatile boolean keepsAll = true;

  /**
   * @param identities told of the states whose parts expire, before any does
   */
  public ExpiryRules(TtlTimeProvider time, Identities identities) {
    this.time = time;
    this.identities = identities;
  }

  /**
   * A state has been registered, and all its values are as its serializer writes them.
   *
   * @param config time to live of the state, also if it is disabled
   */
  public void register(RegisteredState<?, ?> state, StateTtlConfig config) {
    boolean isOn =
        config.isEnabled()
            && config.getCleanupStrategies().inRocksdbCompactFilter()
            && TtlSerializer.isTtlStateSerializer(state.valueSerializer());
    if (isOn) {
      identities.noteTimed(state.id());
    }
    set(state.id(), isOn ? StateExpiry.of(state, config.getTimeToLive().toMillis(), time) : null);
  }

  /** Keeps all of a state until it is registered again. */
  public void forget(RegisteredState<?, ?> state) {
    set(state.id(), null);
  }

  private void set(int state, @Nullable StateExpiry rule) {
    @Nullable StateExpiry[] next = Arrays.copyOf(rules, Math.max(rules.length, state + 1));
    next[state] = rule;
    rules = next;
    keepsAll = Arrays.stream(next).allMatch(each -> each == null);
  }

  boolean keepsAll() {
    return keepsAll;
  }

  /** Whether a record has not expired. */
  boolean keeps(ByteSpan key, ByteSpan value, KeepRule.Lookup store) {
    StateExpiry rule = rule(key);
    if (rule == null) {
      return true;
    }
    // A rule has scratch of its own; it is nearly always asked by one thread alone.
    synchronized (rule) {
      return rule.keeps(key, value, store);
    }
  }

  /** A record without what has expired in it. */
  ByteSpan trimmed(ByteSpan key, ByteSpan value) {
    StateExpiry rule = rule(key);
    if (rule == null) {
      return value;
    }
    synchronized (rule) {
      return rule.trimmed(KeyLayout.sub(key), value);
    }
  }

  /** Which entries of a state's maps have expired; null if none do. */
  public @Nullable EntryLife entryLife(int state) {
    return rule(state) instanceof MapExpiry maps ? maps : null;
  }

  private @Nullable StateExpiry rule(ByteSpan key) {
    return rule(KeyLayout.state(key));
  }

  private @Nullable StateExpiry rule(int state) {
    @Nullable StateExpiry[] all = rules;
    return state < all.length ? all[state] : null;
  }
}
