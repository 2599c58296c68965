package io.fasterkv.flink.records;

import io.fasterkv.FasterStore;

/**
 * One session of a store with the three shapes that state takes in it: single values, lists and
 * maps. For one thread at a time.
 */
public final class StateRecords implements AutoCloseable {
  private final Records records;
  private final Values values;
  private final ByteLists lists;
  private final ByteMaps maps;

  public StateRecords(FasterStore store) {
    this.records = new Records(store);
    this.values = new Values(records);
    this.lists = new ByteLists(records);
    this.maps = new ByteMaps(records);
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

  @Override
  public void close() {
    records.close();
  }
}
