package io.fasterkv.cluster.job;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;

/**
 * Writes facts to files of its own. After a failure it may write a fact again, which must then be
 * the same.
 */
final class FactSink implements Sink<String> {
  private static final long serialVersionUID = 1L;

  private final String directory;

  FactSink(String directory) {
    this.directory = directory;
  }

  @Override
  public SinkWriter<String> createWriter(WriterInitContext context) throws IOException {
    Path results = Files.createDirectories(Path.of(directory));
    return new FactWriter(Files.newBufferedWriter(results.resolve("facts-" + UUID.randomUUID())));
  }

  private static final class FactWriter implements SinkWriter<String> {
    private final BufferedWriter file;

    FactWriter(BufferedWriter file) {
      this.file = file;
    }

    @Override
    public void write(String fact, Context context) throws IOException {
      file.write(fact);
      file.newLine();
    }

    @Override
    public void flush(boolean endOfInput) throws IOException {
      file.flush();
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }
}
