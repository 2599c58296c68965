package io.fasterkv.api.checkpoint;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Describes a version of the store that has become durable.
 *
 * @param token the checkpoint's number
 * @param version the version; each checkpoint increases it by one
 * @param points for each named session, which of its operations are in the checkpoint; unmodifiable
 */
public record Commit(CheckpointToken token, long version, SortedMap<String, CommitPoint> points) {
  /** Copies the points. */
  public Commit {
    points = Collections.unmodifiableSortedMap(new TreeMap<>(points));
  }
}
