package io.fasterkv.cluster;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.apache.flink.api.common.JobID;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.MissingNode;

/** What a cluster says over HTTP. While nobody leads it, all answers are missing. */
final class ClusterRest implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int OK = 2;

  private final String root;
  private final HttpClient client = HttpClient.newBuilder().connectTimeout(PATIENCE).build();

  ClusterRest(int port) {
    root = "http://127.0.0.1:" + port;
  }

  /** How many TaskManagers are known. */
  int taskManagers() throws InterruptedException {
    return get("/taskmanagers").path("taskmanagers").size();
  }

  /** As Flink names it, or empty if the job is not known now. */
  String jobState(JobID job) throws InterruptedException {
    return get("/jobs/" + job).path("state").asText("");
  }

  /** How many of a job's tasks run now. */
  int runningTasks(JobID job) throws InterruptedException {
    int running = 0;
    for (JsonNode vertex : get("/jobs/" + job).path("vertices")) {
      running += vertex.path("tasks").path("RUNNING").asInt();
    }
    return running;
  }

  /**
   * How many records a job's tasks have read since they were started, as was known some time ago.
   */
  long readRecords(JobID job) throws InterruptedException {
    long read = 0;
    for (JsonNode vertex : get("/jobs/" + job).path("vertices")) {
      read += vertex.path("metrics").path("read-records").asLong();
    }
    return read;
  }

  /** The checkpoints of a job, as Flink counts them since the JobManager was started. */
  JsonNode checkpoints(JobID job) throws InterruptedException {
    return get("/jobs/" + job + "/checkpoints");
  }

  /** The number of the newest complete checkpoint, or 0. */
  long completed(JobID job) throws InterruptedException {
    return checkpoints(job).path("latest").path("completed").path("id").asLong(0);
  }

  /** How a checkpoint ended, or empty if it is not known. */
  String checkpointStatus(JobID job, long checkpoint) throws InterruptedException {
    return get("/jobs/" + job + "/checkpoints/details/" + checkpoint).path("status").asText("");
  }

  /** What made the job's tasks fail, newest first; each has a {@code stacktrace}. */
  JsonNode failures(JobID job) throws InterruptedException {
    return get("/jobs/" + job + "/exceptions").path("exceptionHistory").path("entries");
  }

  /** Asks for the end of a job. */
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
