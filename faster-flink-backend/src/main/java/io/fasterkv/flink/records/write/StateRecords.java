package io.fasterkv.flink.records.write;

import io.fasterkv.FasterStore;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.key.LongKeyLayout;
import io.fasterkv.flink.records.base.Records;
import io.fasterkv.flink.records.base.ValueIncarnations;
import io.fasterkv.flink.records.base.Values;
import io.fasterkv.flink.records.list.ByteLists;
import io.fasterkv.flink.records.map.ByteMaps;
import io.fasterkv.flink.records.map.EntryLife;
import io.fasterkv.flink.records.tree.TimerTrees;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Opens one session of a store and offers the shapes of state in it: single values, lists, maps and
 * ordered sets. For one thread at a time.
 */
public final class StateRecords implements AutoCloseable {
  private final Records records;
  private final Values values;
  private final ByteLists lists;
  private final ByteMaps maps;
  private final TimerTrees trees;
  private final StateWrites direct;
  private final DeferredWrites deferred;

  /**
   * @param lives by state number, which entries of its maps have expired; null if none expire
   */
  public StateRecords(
      FasterStore store, ValueIncarnations incarnations, IntFunction<@Nullable EntryLife> lives) {
    this(new Records(store, incarnations), lives);
  }

  public StateRecords(Records records, IntFunction<@Nullable EntryLife> lives) {
    this.records = records;
    this.values = new Values(records);
    this.lists = new ByteLists(records);
    this.maps = new ByteMaps(records, lives);
    this.trees = new TimerTrees(records, values);
    this.direct = new DirectWrites(values, lists, maps);
    this.deferred =
        new DeferredWrites(direct, records::prefetch, records.incarnations()::stateName);
  }

  /**
   * Selects the key and namespace of a value.
   *
   * @param head the key of its head record
   * @return false if the key is long and the value was removed; true for any short key
   */
  public boolean select(ByteSpan head, CompositeKey into) {
    if (LongKeyLayout.hasDigest(head)) {
      return records.keyRecords().find(head, into);
    }
    byte[] bytes = head.toArray();
    into.setPrefix(bytes, 0, bytes.length - KeyLayout.SUB_BYTES);
    return true;
  }

  /** The incarnations that tie parts to their heads. */
  public ValueIncarnations incarnations() {
    return records.incarnations();
  }

  public Values values() {
    settle();
    return values;
  }

  public ByteLists lists() {
    settle();
    return lists;
  }

  public ByteMaps maps() {
    settle();
    return maps;
  }

  /** The ordered sets; {@link #writes} does not cover them. */
  public TimerTrees trees() {
    return trees;
  }

  /**
   * Takes writes that return nothing. They may be buffered until {@link #settle}, which {@link
   * #values}, {@link #lists} and {@link #maps} call; so callers must not keep what those return.
   */
  public StateWrites writes() {
    return deferred;
  }

  /**
   * Like {@link #writes}, but makes each write at once: other threads see it when the call returns.
   */
  public StateWrites writesAtOnce() {
    return direct;
  }

  /**
   * Makes the buffered writes. Must be called before the store is accessed other than through this
   * object.
   */
  public void settle() {
    deferred.settle();
  }

  /** Like {@link #settle} if the caller is the writing thread; other threads may call it too. */
  public void settleOwn() {
    deferred.settleOwn();
  }

  /** Number of operations on the store, for tests that bound it. */
  public long operations() {
    return records.operations();
  }

  @Override
  public void close() {
    records.close();
  }
}
