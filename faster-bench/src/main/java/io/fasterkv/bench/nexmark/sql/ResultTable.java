package io.fasterkv.bench.nexmark.sql;

import io.fasterkv.bench.job.JobStreams;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.sink.DataStreamSinkProvider;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/** Consumes a changelog with a {@link io.fasterkv.bench.job.Digest}. */
final class ResultTable implements DynamicTableSink {
  private final String run;
  private final RowType type;

  ResultTable(String run, RowType type) {
    this.run = run;
    this.type = type;
  }

  @Override
  public ChangelogMode getChangelogMode(ChangelogMode requested) {
    return ChangelogMode.all();
  }

  @Override
  public SinkRuntimeProvider getSinkRuntimeProvider(Context context) {
    return new Provider(run, type);
  }

  /** The end of the stream. */
  private record Provider(String run, RowType type) implements DataStreamSinkProvider {
    @Override
    public DataStreamSink<?> consumeDataStream(ProviderContext context, DataStream<RowData> rows) {
      return JobStreams.digest(rows, run, new RowHash(type));
    }
  }

  @Override
  public DynamicTableSink copy() {
    return new ResultTable(run, type);
  }

  @Override
  public String asSummaryString() {
    return "the result of " + run;
  }
}
