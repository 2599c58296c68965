package io.fasterkv.bench.job;

import io.fasterkv.bench.report.Spread;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.runtime.checkpoint.AbstractCheckpointStats;
import org.apache.flink.runtime.checkpoint.CheckpointStatsSnapshot;
import org.apache.flink.runtime.checkpoint.CheckpointStatsStatus;
import org.apache.flink.runtime.checkpoint.TaskStateStats;
import org.jspecify.annotations.Nullable;

/** Looks at the checkpoints of a job while it runs, and sums them up at its end. */
final class CheckpointFigures {
  private final Path directory;
  private long files;

  CheckpointFigures(Path directory) {
    this.directory = directory;
  }

  /** Counts the files; Flink deletes them when the job ends. */
  void look() {
    if (!Files.exists(directory)) {
      return;
    }
    try (Stream<Path> all = Files.walk(directory)) {
      long found = all.filter(Files::isRegularFile).count();
      files = found == 0 ? files : found;
    } catch (IOException | UncheckedIOException e) {
      return; // a file was deleted meanwhile
    }
  }

  /**
   * The figures of checkpoints that were triggered before the sink had its last row; later ones
   * have no state any more. Null if there are none.
   */
  JobResult.@Nullable Checkpoints sum(CheckpointStatsSnapshot snapshot, long endEpochMillis) {
    List<AbstractCheckpointStats> completed =
        snapshot.getHistory().getCheckpoints().stream()
            .filter(c -> c.getStatus() == CheckpointStatsStatus.COMPLETED)
            .filter(c -> c.getTriggerTimestamp() < endEpochMillis)
            .sorted(Comparator.comparingLong(AbstractCheckpointStats::getCheckpointId))
            .toList();
    if (completed.isEmpty()) {
      return null;
    }
    Spread millis =
        Spread.of(completed.stream().map(c -> (double) c.getEndToEndDuration()).toList());
    return new JobResult.Checkpoints(
        completed.size(),
        millis.median(),
        millis.max(),
        completed.stream().mapToLong(CheckpointFigures::syncMillis).max().orElse(0),
        completed.stream().mapToLong(AbstractCheckpointStats::getCheckpointedSize).sum(),
        completed.getLast().getStateSize(),
        completed.stream().mapToLong(AbstractCheckpointStats::getStateSize).max().orElse(0),
        files);
  }

  private static long syncMillis(AbstractCheckpointStats checkpoint) {
    return checkpoint.getAllTaskStateStats().stream()
        .map(TaskStateStats::getSummaryStats)
        .mapToLong(summary -> summary.getSyncCheckpointDurationStats().getMaximum())
        .max()
        .orElse(0);
  }
}
