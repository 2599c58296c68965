package io.fasterkv.bench.ycsb;

import io.fasterkv.bench.store.StoreKind;
import io.fasterkv.bench.workload.Distribution;
import io.fasterkv.bench.workload.Workload;

/**
 * What one row of a table measures.
 *
 * @param batch how many operations at a time are handed to the store; 1 for one at a time
 */
public record RowSpec(
    StoreKind store, Workload workload, Distribution distribution, int threads, int batch) {

  /** For progress and messages. */
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
