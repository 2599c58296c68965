package io.fasterkv.api;

import io.fasterkv.api.StoreConfig.RecordKind;
import java.util.List;
import java.util.SortedMap;

/**
 * What a checkpoint says of itself.
 *
 * @param token names it
 * @param kind how the log was made durable
 * @param recordKind what the store's records are
 * @param version the version of the store that it commits
 * @param points the commit point of each named session
 * @param log where its log lies
 * @param index what it has of the index
 * @param files the files that it needs, besides the segments of the log; some may have come with
 *     older checkpoints
 */
public record CheckpointInfo(
    CheckpointToken token,
    CheckpointKind kind,
    RecordKind recordKind,
    long version,
    SortedMap<String, CommitPoint> points,
    LogInfo log,
    IndexInfo index,
    List<FileInfo> files) {

  /**
   * @param begin the first address
   * @param start records of the next version, which do not count, may lie here and above
   * @param end the first address after
   * @param deviceEnd below it the log is in segments, from it on in snapshots
   * @param pageBytes size of a page
   * @param segmentBytes size of a segment file
   */
  public record LogInfo(
      long begin, long start, long end, long deviceEnd, int pageBytes, long segmentBytes) {}

  /**
   * @param mainBuckets buckets that hashes choose from
   * @param overflowBuckets overflow buckets in use
   * @param imageOf the checkpoint that the newest image of the index came with; 0 if there is none
   * @param replayFrom recovery goes over the log from here on; {@code end} for none of it
   */
  public record IndexInfo(long mainBuckets, long overflowBuckets, long imageOf, long replayFrom) {}

  /**
   * @param name in the checkpoint's directory
   * @param bytes its size; -1 if it is not there
   */
  public record FileInfo(String name, long bytes) {}
}
