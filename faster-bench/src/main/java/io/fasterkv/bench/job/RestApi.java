package io.fasterkv.bench.job;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/** What a cluster's REST interface says. */
final class RestApi {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final int OK = 200;

  /** Shared, since each one loads certificates. */
  private static final HttpClient CLIENT = HttpClient.newBuilder().connectTimeout(PATIENCE).build();

  private final String address;

  /**
   * @param address such as {@code http://127.0.0.1:8081}
   */
  RestApi(String address) {
    this.address = address;
  }

  /**
   * What it answers.
   *
   * @throws IOException if there is no answer, or an error
   */
  JsonNode get(String path) throws IOException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(address + path)).timeout(PATIENCE).build();
    try {
      HttpResponse<String> answer = CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
      if (answer.statusCode() != OK) {
        throw new IOException(
            "the cluster refuses a request: path="
                + path
                + ", status="
                + answer.statusCode()
                + ", answer="
                + answer.body());
      }
      return JSON.readTree(answer.body());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the cluster answered: path=" + path, e);
    }
  }
}
