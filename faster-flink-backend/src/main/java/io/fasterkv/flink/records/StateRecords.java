package io.fasterkv.flink.records;

import io.fasterkv.FasterStore;

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

  public StateRecords(FasterStore store, Identities identities) {
    this.records = new Records(store, identities);
    this.values = new Values(records);
    this.lists = new ByteLists(records);
    this.maps = new ByteMaps(records);
    this.trees = new ByteTrees(records, values);
  }

  /** What it ties parts to their heads with. */
  public Identities identities() {
    return records.identities();
  }

  public Values values() {
    return values;
  }

  public ByteLists lists() {
    return lists;
  }

  public ByteMaps maps() {
    return maps;
  }

  public ByteTrees trees() {
    return trees;
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
