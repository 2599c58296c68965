package io.fasterkv.flink.records;

import io.fasterkv.FasterStore;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * One session of a store with the shapes that state takes in it: single values, lists, maps and
 * ordered sets. For one thread at a time.
 */
public final class StateRecords implements AutoCloseable {
  private final Records records;
  private final Values values;
  private final ByteLists lists;
  private final ByteMaps maps;
  private final ByteTrees trees;
  private final StateWrites direct;
  private final DeferredWrites deferred;

  /**
   * @param lives says by the number of a state which entries of its maps have expired; null if none
   *     do
   */
  public StateRecords(
      FasterStore store, Identities identities, IntFunction<@Nullable EntryLife> lives) {
    this(new Records(store, identities), lives);
  }

  StateRecords(Records records, IntFunction<@Nullable EntryLife> lives) {
    this.records = records;
    this.values = new Values(records);
    this.lists = new ByteLists(records);
    this.maps = new ByteMaps(records, lives);
    this.trees = new ByteTrees(records, values);
    this.direct = new DirectWrites(values, lists, maps);
    this.deferred = new DeferredWrites(direct, records::touch, records.identities()::stateName);
  }

  /** What it ties parts to their heads with. */
  public Identities identities() {
    return records.identities();
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

  /** Ordered sets, which no {@link #writes} are about. */
  public ByteTrees trees() {
    return trees;
  }

  /**
   * Where writes go that need no answer. They may be made later, when {@link #settle} is called at
   * the latest, which {@link #values}, {@link #lists} and {@link #maps} do; so nobody keeps what
   * those return.
   */
  public StateWrites writes() {
    return deferred;
  }

  /** As {@link #writes}, but made at once: other threads see them when the call returns. */
  public StateWrites writesAtOnce() {
    return direct;
  }

  /**
   * Makes the writes that have not been made yet. Whoever looks at the store in another way than
   * through this object calls it first.
   */
  public void settle() {
    deferred.settle();
  }

  /** As {@link #settle} if the caller is the thread that writes; may be called by others. */
  public void settleOwn() {
    deferred.settleOwn();
  }

  /** How many operations on the store there have been: for tests that bound their number. */
  long operations() {
    return records.operations();
  }

  @Override
  public void close() {
    records.close();
  }
}
