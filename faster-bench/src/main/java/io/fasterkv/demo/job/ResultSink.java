package io.fasterkv.demo.job;

import io.fasterkv.demo.example.WordSummary;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;

/** Puts summaries into the run's {@link Results}. */
public final class ResultSink implements Sink<WordSummary> {
  private static final long serialVersionUID = 1;

  private final String runId;

  public ResultSink(String runId) {
    this.runId = runId;
  }

  @Override
  public SinkWriter<WordSummary> createWriter(WriterInitContext context) {
    return new Writer(RunControl.of(runId).results());
  }

  private record Writer(Results results) implements SinkWriter<WordSummary> {
    @Override
    public void write(WordSummary summary, Context context) {
      results.put(summary);
    }

    @Override
    public void flush(boolean endOfInput) {}

    @Override
    public void close() {}
  }
}
