package io.fasterkv.api.checkpoint;

import io.fasterkv.api.config.StoreConfig.RecordKind;
import java.util.List;
import java.util.SortedMap;

/**
 * Describes a checkpoint, as read from its manifest.
 *
 * @param token the checkpoint's number
 * @param kind how the checkpoint made the log durable
 * @param recordKind what the store's records hold
 * @param version the version of the store that the checkpoint commits
 * @param points for each named session, which of its operations are in the checkpoint
 * @param log the extent of the log
 * @param index the index as the checkpoint stores it
 * @param files the files that the checkpoint needs besides the log segments; an older checkpoint
 *     may have written some of them
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
   * The extent of a checkpoint's log. All positions are log addresses, in bytes.
   *
   * @param begin the begin address
   * @param start records of the next version, which are not part of the checkpoint, may be stored
   *     from this address on
   * @param end the first address after the log
   * @param deviceEnd the log is in segment files below this address, and in snapshots from it on
   * @param pageBytes size of a log page, in bytes
   * @param segmentBytes size of a segment file, in bytes
   */
  public record LogInfo(
      long begin, long start, long end, long deviceEnd, int pageBytes, long segmentBytes) {}

  /**
   * The index of a checkpoint.
   *
   * @param mainBuckets number of buckets that hashes select from
   * @param overflowBuckets number of overflow buckets in use
   * @param imageOf number of the checkpoint that wrote the newest image of the index; 0 if there is
   *     no image
   * @param replayFrom recovery replays the log from this address on; equal to {@code end} if it
   *     replays nothing
   */
  public record IndexInfo(long mainBuckets, long overflowBuckets, long imageOf, long replayFrom) {}

  /**
   * A file of a checkpoint.
   *
   * @param name file name within the checkpoint's directory
   * @param bytes size of the file, in bytes; -1 if the file is missing
   */
  public record FileInfo(String name, long bytes) {}
}
