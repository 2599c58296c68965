package io.fasterkv.cluster;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.api.common.JobID;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.MissingNode;

/** Reads a cluster's REST interface. All answers are empty while the cluster has no leader. */
final class ClusterRest implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int OK = 2;

  /** The states of a job that has ended, as Flink names them. */
  static final Set<String> ENDED = Set.of("FINISHED", "FAILED", "CANCELED");

  private final String root;
  private final HttpClient client = HttpClient.newBuilder().connectTimeout(PATIENCE).build();

  ClusterRest(int port) {
    root = "http://127.0.0.1:" + port;
  }

  /** Number of registered TaskManagers. */
  int taskManagers() throws InterruptedException {
    return get("/taskmanagers").path("taskmanagers").size();
  }

  /** A job's state, as Flink names it, or empty if the job is currently unknown. */
  String jobState(JobID job) throws InterruptedException {
    return get("/jobs/" + job).path("state").asText("");
  }

  /** Whether each of a job's tasks is running or has finished. */
  boolean allTasksRun(JobID job) throws InterruptedException {
    int missing = 0;
    JsonNode vertices = get("/jobs/" + job).path("vertices");
    for (JsonNode vertex : vertices) {
      JsonNode tasks = vertex.path("tasks");
      missing += vertex.path("parallelism").asInt();
      missing -= tasks.path("RUNNING").asInt() + tasks.path("FINISHED").asInt();
    }
    return !vertices.isEmpty() && missing == 0;
  }

  /** The TaskManagers that run a job's tasks. */
  Set<String> taskManagers(JobID job) throws InterruptedException {
    Set<String> ids = new TreeSet<>();
    for (JsonNode vertex : get("/jobs/" + job).path("vertices")) {
      String path = "/jobs/" + job + "/vertices/" + vertex.path("id").asText();
      for (JsonNode subtask : get(path).path("subtasks")) {
        if (subtask.path("status").asText().equals("RUNNING")) {
          ids.add(subtask.path("taskmanager-id").asText());
        }
      }
    }
    return ids;
  }

  /**
   * Number of records that a job's tasks have read since they started. The number may be outdated.
   */
  long readRecords(JobID job) throws InterruptedException {
    long read = 0;
    for (JsonNode vertex : get("/jobs/" + job).path("vertices")) {
      read += vertex.path("metrics").path("read-records").asLong();
    }
    return read;
  }

  /** The checkpoints of a job, as Flink has counted them since the JobManager started. */
  JsonNode checkpoints(JobID job) throws InterruptedException {
    return get("/jobs/" + job + "/checkpoints");
  }

  /** The number of the newest complete checkpoint, or 0. */
  long completed(JobID job) throws InterruptedException {
    return checkpoints(job).path("latest").path("completed").path("id").asLong(0);
  }

  /** A checkpoint's final status, or empty if it is unknown. */
  String checkpointStatus(JobID job, long checkpoint) throws InterruptedException {
    return get("/jobs/" + job + "/checkpoints/details/" + checkpoint).path("status").asText("");
  }

  /** The failures of the job's tasks, newest first; each has a {@code stacktrace}. */
  JsonNode failures(JobID job) throws InterruptedException {
    return get("/jobs/" + job + "/exceptions").path("exceptionHistory").path("entries");
  }

  /** The jobs that have not ended. */
  List<JobID> unfinished() throws InterruptedException {
    List<JobID> jobs = new ArrayList<>();
    for (JsonNode job : get("/jobs").path("jobs")) {
      if (!ENDED.contains(job.path("status").asText())) {
        jobs.add(JobID.fromHexString(job.path("id").asText()));
      }
    }
    return jobs;
  }

  /**
   * Requests to stop a job with a savepoint.
   *
   * @param format {@code CANONICAL} or {@code NATIVE}
   * @return the id of the request, for {@link #savepoint}
   */
  String stop(JobID job, Path directory, String format) throws InterruptedException {
    String body =
        "{\"targetDirectory\": \"%s\", \"drain\": false, \"formatType\": \"%s\"}"
            .formatted(directory.toUri(), format);
    JsonNode answer =
        send(
            HttpRequest.newBuilder(URI.create(root + "/jobs/" + job + "/stop"))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body)));
    return answer.path("request-id").asText("");
  }

  /** A savepoint's progress: {@code status.id}, {@code operation.location} and its failure. */
  JsonNode savepoint(JobID job, String request) throws InterruptedException {
    return get("/jobs/" + job + "/savepoints/" + request);
  }

  /** Requests to cancel a job. */
  void cancel(JobID job) throws InterruptedException {
    send(
        HttpRequest.newBuilder(URI.create(root + "/jobs/" + job + "?mode=cancel"))
            .method("PATCH", HttpRequest.BodyPublishers.noBody()));
  }

  private JsonNode get(String path) throws InterruptedException {
    return send(HttpRequest.newBuilder(URI.create(root + path)).GET());
  }

  private JsonNode send(HttpRequest.Builder request) throws InterruptedException {
    try {
      HttpResponse<String> response =
          client.send(request.timeout(PATIENCE).build(), HttpResponse.BodyHandlers.ofString());
      return response.statusCode() / 100 == OK
          ? JSON.readTree(response.body())
          : MissingNode.getInstance();
    } catch (IOException notThere) {
      return MissingNode.getInstance();
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
