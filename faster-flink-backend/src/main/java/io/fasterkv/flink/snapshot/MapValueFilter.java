package io.fasterkv.flink.snapshot;

import java.util.Arrays;
import org.apache.flink.runtime.state.StateSnapshotTransformer;
import org.jspecify.annotations.Nullable;

/**
 * Filters map values, which start with a byte that says whether they are null. Null values stay.
 */
final class MapValueFilter implements StateSnapshotTransformer<byte[]> {
  private static final byte NOT_NULL = 0;

  private final StateSnapshotTransformer<byte[]> filter;

  MapValueFilter(StateSnapshotTransformer<byte[]> filter) {
    this.filter = filter;
  }

  @Override
  public byte @Nullable [] filterOrTransform(byte @Nullable [] value) {
    if (value == null || value[0] != NOT_NULL) {
      return value;
    }
    byte[] bare = Arrays.copyOfRange(value, 1, value.length);
    byte[] kept = filter.filterOrTransform(bare);
    if (kept == null || kept == bare) {
      return kept == null ? null : value;
    }
    byte[] changed = new byte[1 + kept.length];
    changed[0] = NOT_NULL;
    System.arraycopy(kept, 0, changed, 1, kept.length);
    return changed;
  }
}
