package io.fasterkv.api;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A version of the store that has become durable.
 *
 * @param token names the checkpoint
 * @param version the version, one more with each checkpoint
 * @param points the commit point of each named session in the checkpoint
 */
public record Commit(CheckpointToken token, long version, SortedMap<String, CommitPoint> points) {
  public Commit {
    points = Collections.unmodifiableSortedMap(new TreeMap<>(points));
  }
}
