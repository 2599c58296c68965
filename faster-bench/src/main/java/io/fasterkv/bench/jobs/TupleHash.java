package io.fasterkv.bench.jobs;

import io.fasterkv.bench.job.ResultHash;
import org.apache.flink.api.java.tuple.Tuple;

/**
 * Hashes tuples of numbers.
 *
 * @param isChanges whether the first field says if the row is added (true) or removed (false)
 */
record TupleHash<T extends Tuple>(boolean isChanges) implements ResultHash<T> {
  private static final long serialVersionUID = 1;
  private static final long SEED = 0x9E3779B97F4A7C15L;

  @Override
  public long hash(T row) {
    long hash = SEED;
    for (int field = isChanges ? 1 : 0; field < row.getArity(); field++) {
      Long value = row.getField(field);
      hash = ResultHash.mix(hash, value);
    }
    return hash;
  }

  @Override
  public boolean isAdded(T row) {
    if (!isChanges) {
      return true;
    }
    Boolean isAdded = row.getField(0);
    return isAdded;
  }
}
