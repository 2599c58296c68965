package io.fasterkv.bench.job;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.table.data.RowData;

/** The two ends of each job. */
public final class JobStreams {
  private JobStreams() {}

  /**
   * The events of a run, which a job reads once.
   *
   * @param run names the {@link JobMeter}
   * @param type of the rows
   */
  public static DataStream<RowData> events(
      StreamExecutionEnvironment environment, String run, TypeInformation<RowData> type) {
    JobMeter meter = JobMeter.of(run);
    meter.addSource();
    return environment
        .fromSource(
            new EventSource(meter.forTasks()), WatermarkStrategy.noWatermarks(), "events", type)
        .uid("bench-events")
        .transform("probe", type, new ProbeOperator(meter.forTasks()))
        .uid("bench-probe");
  }

  /** Consumes the rows of a result, and keeps their {@link Digest}. */
  public static <T> DataStreamSink<?> digest(DataStream<T> rows, String run, ResultHash<T> hash) {
    int parallelism = rows.getParallelism();
    TaskMeter.Handle meter = JobMeter.of(run).forTasks();
    return rows.transform("digest", Types.LONG, new DigestOperator<>(meter, hash))
        .uid("bench-digest")
        .setParallelism(parallelism)
        .sinkTo(new DiscardingSink<>())
        .uid("bench-end")
        .setParallelism(parallelism);
  }
}
