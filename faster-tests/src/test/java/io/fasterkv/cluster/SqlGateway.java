package io.fasterkv.cluster;

import io.fasterkv.process.Jvm;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/** Flink's SQL gateway, in a separate process beside a cluster, and its REST interface. */
final class SqlGateway implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int MEGABYTES = 384;
  private static final int OK = 2;

  private final HttpClient client = HttpClient.newBuilder().connectTimeout(PATIENCE).build();
  private final String root;
  private final Jvm process;

  /** Starts a gateway and waits until it answers. */
  SqlGateway(StandaloneCluster cluster) throws Exception {
    int port = StandaloneCluster.freePort();
    root = "http://127.0.0.1:" + port + "/v3";
    process =
        cluster.start(
            "sql-gateway",
            MEGABYTES,
            List.of(
                org.apache.flink.table.gateway.SqlGateway.class.getName(),
                "-Dsql-gateway.endpoint.rest.address=127.0.0.1",
                "-Dsql-gateway.endpoint.rest.port=" + port,
                "-Dsql-gateway.endpoint.rest.bind-address=127.0.0.1",
                "-Dsql-gateway.endpoint.rest.bind-port=" + port,
                "-Dexecution.target=remote"));
    try {
      Await.until("the SQL gateway answers", this::answers);
    } catch (Exception | Error failure) {
      close();
      throw failure;
    }
  }

  private boolean answers() throws Exception {
    if (!process.isAlive()) {
      throw new AssertionError("the SQL gateway has exited\n" + process.tail());
    }
    try {
      return !get("/info").path("version").asText("").isEmpty();
    } catch (IOException notYet) {
      return false;
    }
  }

  /** Opens a session with settings. */
  Session open(Map<String, String> settings) throws Exception {
    JsonNode answer = post("/sessions", Map.of("properties", settings));
    return new Session("/sessions/" + answer.path("sessionHandle").asText());
  }

  /** The result of a statement. */
  record Result(String job, List<List<String>> rows) {}

  /** A session, which keeps tables and settings. */
  final class Session {
    private final String path;

    private Session(String path) {
      this.path = path;
    }

    /** Executes one statement and waits for its complete result. */
    Result execute(String statement) throws Exception {
      JsonNode begun = post(path + "/statements", Map.of("statement", statement));
      String operation = path + "/operations/" + begun.path("operationHandle").asText();
      String next = operation + "/result/0?rowFormat=JSON";
      String job = "";
      List<List<String>> rows = new ArrayList<>();
      while (!next.isEmpty()) {
        JsonNode result = awaitResult(statement, next);
        job = result.path("jobID").asText(job);
        for (JsonNode row : result.path("results").path("data")) {
          List<String> fields = new ArrayList<>();
          row.path("fields").forEach(field -> fields.add(field.asText()));
          rows.add(fields);
        }
        boolean isLast = result.path("resultType").asText().equals("EOS");
        next = isLast ? "" : result.path("nextResultUri").asText("").replaceFirst("^/v[0-9]+", "");
      }
      return new Result(job, rows);
    }
  }

  private JsonNode awaitResult(String statement, String path) throws Exception {
    AtomicReference<JsonNode> result = new AtomicReference<>();
    Await.until(
        "the result of " + statement,
        () -> {
          result.setPlain(get(path));
          return !result.getPlain().path("resultType").asText().equals("NOT_READY");
        });
    return result.getPlain();
  }

  private JsonNode get(String path) throws IOException, InterruptedException {
    return send(HttpRequest.newBuilder(URI.create(root + path)).GET());
  }

  private JsonNode post(String path, Object body) throws IOException, InterruptedException {
    return send(
        HttpRequest.newBuilder(URI.create(root + path))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(body))));
  }

  private JsonNode send(HttpRequest.Builder request) throws IOException, InterruptedException {
    HttpResponse<String> response =
        client.send(request.timeout(PATIENCE).build(), HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() / 100 != OK) {
      throw new AssertionError(
          "SQL gateway request failed: status=" + response.statusCode() + "\n" + response.body());
    }
    return JSON.readTree(response.body());
  }

  @Override
  public void close() {
    process.close();
    client.close();
  }
}
