package io.fasterkv.flink.state;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.config.KeepRule;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.records.base.ValueIncarnations;
import io.fasterkv.flink.records.map.EntryLife;
import java.util.Arrays;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.runtime.state.ttl.TtlStateFactory.TtlSerializer;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.jspecify.annotations.Nullable;

/**
 * Lets compaction drop expired records, by the newest registration of each state. The task's thread
 * sets the rules and compacting threads read them. A compacting thread sees a rule or its
 * successor; what has expired by either may be dropped.
 */
public final class ExpiryRules {
  private final TtlTimeProvider time;
  private final ValueIncarnations incarnations;

  /** The rules by state number; replaced as a whole. */
  private volatile @Nullable StateExpiry[] rules = new StateExpiry[0];

  private volatile boolean keepsAll = true;

  /**
   * @param incarnations is notified of a state whose parts expire before any part can expire
   */
  public ExpiryRules(TtlTimeProvider time, ValueIncarnations incarnations) {
    this.time = time;
    this.incarnations = incarnations;
  }

  /**
   * Registers a state all of whose values are in its serializer's format.
   *
   * @param config time to live of the state, also if it is disabled
   */
  public void register(RegisteredState<?, ?> state, StateTtlConfig config) {
    boolean isOn =
        config.isEnabled()
            && config.getCleanupStrategies().inRocksdbCompactFilter()
            && TtlSerializer.isTtlStateSerializer(state.valueSerializer());
    if (isOn) {
      incarnations.noteTimed(state.id());
    }
    set(state.id(), isOn ? rule(state, config.getTimeToLive().toMillis()) : null);
  }

  private StateExpiry rule(RegisteredState<?, ?> state, long ttlMillis) {
    return switch (state.type()) {
      case LIST ->
          new ListExpiry(
              ((ListSerializer<?>) state.valueSerializer()).getElementSerializer().duplicate(),
              ttlMillis,
              time);
      case MAP -> new MapExpiry(ttlMillis, time);
      default -> new ValueExpiry(ttlMillis, time);
    };
  }

  /** Keeps all records of a state until it is registered again. */
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

  /** Whether a record must be kept because it has not expired. */
  boolean keeps(ByteSpan key, ByteSpan value, KeepRule.Lookup store) {
    StateExpiry rule = rule(key);
    if (rule == null) {
      return true;
    }
    // A rule has scratch of its own; nearly always only one thread uses it.
    synchronized (rule) {
      return rule.keeps(key, value, store);
    }
  }

  /** Returns the record without its expired elements or entries. */
  ByteSpan trimmed(ByteSpan key, ByteSpan value) {
    StateExpiry rule = rule(key);
    if (rule == null) {
      return value;
    }
    synchronized (rule) {
      return rule.trimmed(KeyLayout.sub(key), value);
    }
  }

  /** Tells which entries of a state's maps have expired; null if none expire. */
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
