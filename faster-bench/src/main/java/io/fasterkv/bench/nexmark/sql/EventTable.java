package io.fasterkv.bench.nexmark.sql;

import io.fasterkv.bench.job.JobStreams;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.source.DataStreamScanProvider;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.connector.source.abilities.SupportsSourceWatermark;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.DataType;

/** The events as a table. */
final class EventTable implements ScanTableSource, SupportsSourceWatermark {
  private final String run;
  private final DataType rowType;

  EventTable(String run, DataType rowType) {
    this.run = run;
    this.rowType = rowType;
  }

  @Override
  public ChangelogMode getChangelogMode() {
    return ChangelogMode.insertOnly();
  }

  @Override
  public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
    return new Provider(run, context.createTypeInformation(rowType));
  }

  /** The events' stream. */
  private record Provider(String run, TypeInformation<RowData> type)
      implements DataStreamScanProvider {
    @Override
    public boolean isBounded() {
      return true;
    }

    @Override
    public DataStream<RowData> produceDataStream(
        ProviderContext context, StreamExecutionEnvironment environment) {
      return JobStreams.events(environment, run, type);
    }
  }

  /** Nothing to do: the source always has watermarks. */
  @Override
  public void applySourceWatermark() {}

  @Override
  public DynamicTableSource copy() {
    return new EventTable(run, rowType);
  }

  @Override
  public String asSummaryString() {
    return "the events of " + run;
  }
}
