package io.fasterkv.bench.store;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.bench.workload.Values;

/** Sums that remember the results of reads from disk. */
final class LongSums implements LongFunctions<Void> {
  long fingerprints;
  long lastFound = Values.MISSING;

  @Override
  public long initialUpdater(long key, long input) {
    return input;
  }

  @Override
  public long updater(long key, long input, long oldValue) {
    return oldValue + input;
  }

  @Override
  public void completionCallback(Status status, long key, long value, Void context) {
    lastFound = status == Status.FOUND ? value : Values.MISSING;
    if (status == Status.FOUND) {
      fingerprints += Values.fingerprintIn(value);
    }
  }
}
