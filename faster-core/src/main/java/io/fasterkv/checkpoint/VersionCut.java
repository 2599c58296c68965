package io.fasterkv.checkpoint;

import io.fasterkv.api.CommitPoint;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A version of the store, as a checkpoint makes it durable.
 *
 * @param version what is committed
 * @param begin the log's begin, pinned
 * @param start every record of the next version lies here or above
 * @param end every record of this version lies below; a multiple of the device's sector
 * @param points the commit point of each named session in the version
 */
public record VersionCut(
    long version, long begin, long start, long end, SortedMap<String, CommitPoint> points) {
  public VersionCut {
    if (begin > start || start > end) {
      throw new IllegalArgumentException(
          "a cut's addresses are out of order: begin="
              + begin
              + ", start="
              + start
              + ", end="
              + end
              + ", allowed=begin <= start <= end");
    }
    points = Collections.unmodifiableSortedMap(new TreeMap<>(points));
  }
}
