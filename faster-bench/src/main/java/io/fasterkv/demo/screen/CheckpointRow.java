package io.fasterkv.demo.screen;

import java.util.function.ToLongFunction;
import org.apache.flink.runtime.checkpoint.AbstractCheckpointStats;
import org.apache.flink.runtime.checkpoint.CheckpointStatsStatus;
import org.apache.flink.runtime.checkpoint.SubtaskStateStats;
import org.apache.flink.runtime.checkpoint.TaskStateStats;
import org.jspecify.annotations.Nullable;

/**
 * One line of the table of checkpoints.
 *
 * @param id its number, 1 or more
 * @param kind {@code checkpoint} or {@code savepoint}, with {@code aborted} if it was
 * @param syncMillis how long the slowest subtask was blocked, in milliseconds
 * @param asyncMillis how long the slowest subtask wrote in the background, in milliseconds
 * @param totalMillis from the trigger to the last acknowledgement, in milliseconds
 * @param bytes the bytes written for it and the size of its state
 */
public record CheckpointRow(
    long id, String kind, long syncMillis, long asyncMillis, long totalMillis, Bytes bytes) {

  private static final String SAVEPOINT = "savepoint";
  private static final String ABORTED = ", aborted";

  /**
   * How large a checkpoint is.
   *
   * @param written bytes written for this checkpoint, 0 or more
   * @param state bytes that a restore would read, 0 or more
   */
  public record Bytes(long written, long state) {}

  /** Says whether it is complete. */
  boolean isComplete() {
    return !kind.endsWith(ABORTED);
  }

  /** Says whether it is a savepoint. */
  public boolean isSavepoint() {
    return kind.startsWith(SAVEPOINT);
  }

  /** Converts Flink's statistics of a checkpoint. */
  public static CheckpointRow of(AbstractCheckpointStats stats) {
    boolean aborted = stats.getStatus() != CheckpointStatsStatus.COMPLETED;
    String kind = stats.getProperties().isSavepoint() ? SAVEPOINT : "checkpoint";
    return new CheckpointRow(
        stats.getCheckpointId(),
        aborted ? kind + ABORTED : kind,
        slowest(stats, SubtaskStateStats::getSyncCheckpointDuration),
        slowest(stats, SubtaskStateStats::getAsyncCheckpointDuration),
        Math.max(0, stats.getEndToEndDuration()),
        new Bytes(stats.getCheckpointedSize(), stats.getStateSize()));
  }

  private static long slowest(
      AbstractCheckpointStats stats, ToLongFunction<SubtaskStateStats> millis) {
    long slowest = 0;
    for (TaskStateStats task : stats.getAllTaskStateStats()) {
      for (@Nullable SubtaskStateStats subtask : task.getSubtaskStats()) {
        if (subtask != null) {
          slowest = Math.max(slowest, millis.applyAsLong(subtask));
        }
      }
    }
    return slowest;
  }
}
