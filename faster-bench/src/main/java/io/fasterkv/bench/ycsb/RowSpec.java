package io.fasterkv.bench.ycsb;

import io.fasterkv.bench.store.StoreKind;
import io.fasterkv.bench.workload.Distribution;
import io.fasterkv.bench.workload.Workload;

/**
 * The parameters of one row of a table.
 *
 * @param batch number of operations in each call of the store; 1 for one at a time
 */
public record RowSpec(
    StoreKind store, Workload workload, Distribution distribution, int threads, int batch) {

  /** A label for progress and messages. */
  public String label() {
    return store.label()
        + " "
        + workload.label()
        + " "
        + distribution.label()
        + " threads="
        + threads
        + " batch="
        + batch;
  }
}
