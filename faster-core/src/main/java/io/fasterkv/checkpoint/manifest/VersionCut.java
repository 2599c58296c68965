package io.fasterkv.checkpoint.manifest;

import io.fasterkv.api.checkpoint.CommitPoint;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A version of the store as a checkpoint makes it durable.
 *
 * @param version the committed version
 * @param begin the log's begin address, pinned
 * @param start every record of the next version is at or above this address
 * @param end every record of this version is below this address; a multiple of the device's sector
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
