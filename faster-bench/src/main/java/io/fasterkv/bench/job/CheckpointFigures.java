package io.fasterkv.bench.job;

import com.fasterxml.jackson.databind.JsonNode;
import io.fasterkv.bench.report.Spread;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.jspecify.annotations.Nullable;

/** Looks at the checkpoints of a job while it runs, and sums them up at its end. */
final class CheckpointFigures {
  private final Path directory;
  private long files;

  CheckpointFigures(Path directory) {
    this.directory = directory;
  }

  /** A checkpoint that was completed. */
  private record Completed(
      long id,
      long triggeredMillis,
      long millis,
      long syncMillis,
      long writtenBytes,
      long fullBytes) {}

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
   *
   * @param rest of the cluster that has run the job
   */
  JobResult.@Nullable Checkpoints sum(RestApi rest, JobID job, long endEpochMillis)
      throws IOException {
    List<Completed> completed =
        completed(rest, "/jobs/" + job + "/checkpoints").stream()
            .filter(checkpoint -> checkpoint.triggeredMillis < endEpochMillis)
            .sorted(Comparator.comparingLong(Completed::id))
            .toList();
    if (completed.isEmpty()) {
      return null;
    }
    Spread millis = Spread.of(completed.stream().map(c -> (double) c.millis).toList());
    return new JobResult.Checkpoints(
        millis.median(),
        millis.max(),
        completed.stream().map(Completed::syncMillis).toList(),
        completed.stream().mapToLong(Completed::writtenBytes).sum(),
        completed.getLast().fullBytes,
        completed.stream().mapToLong(Completed::fullBytes).max().orElse(0),
        files);
  }

  private static List<Completed> completed(RestApi rest, String path) throws IOException {
    List<Completed> completed = new ArrayList<>();
    for (JsonNode checkpoint : rest.get(path).path("history")) {
      if (checkpoint.path("status").asText().equals("COMPLETED")) {
        long id = checkpoint.path("id").asLong();
        completed.add(
            new Completed(
                id,
                checkpoint.path("trigger_timestamp").asLong(),
                checkpoint.path("end_to_end_duration").asLong(),
                syncMillis(rest, path + "/details/" + id),
                checkpoint.path("checkpointed_size").asLong(),
                checkpoint.path("state_size").asLong()));
      }
    }
    return completed;
  }

  /** The longest synchronous phase of a task. */
  private static long syncMillis(RestApi rest, String path) throws IOException {
    long longest = 0;
    Iterator<String> operators = rest.get(path).path("tasks").fieldNames();
    while (operators.hasNext()) {
      JsonNode ofTasks = rest.get(path + "/subtasks/" + operators.next()).path("summary");
      longest = Math.max(longest, ofTasks.at("/checkpoint_duration/sync/max").asLong());
    }
    return longest;
  }
}
