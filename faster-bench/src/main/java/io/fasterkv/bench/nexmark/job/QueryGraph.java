package io.fasterkv.bench.nexmark.job;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.TableDescriptor;
import org.apache.flink.table.api.bridge.java.StreamStatementSet;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;

/** Makes a job of a query. */
public final class QueryGraph {
  private QueryGraph() {}

  /** The job of a run, with these settings of the cluster and the job. */
  public static JobGraph of(JobMeter meter, Configuration settings) {
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.getExecutionEnvironment(settings);
    environment.setParallelism(meter.plan().parallelism());
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    tables.getConfig().set("table.local-time-zone", "UTC");
    tables.createTemporarySystemFunction("count_char", CountChar.class);
    tables.createTemporarySystemFunction("precedence", Precedence.class);
    Query.tables(meter.name()).forEach(tables::executeSql);
    TableDescriptor result =
        TableDescriptor.forConnector(TableFactory.CONNECTOR)
            .option(TableFactory.RUN, meter.name())
            .build();
    StreamStatementSet statements = tables.createStatementSet();
    statements.add(tables.sqlQuery(meter.plan().query().sql()).insertInto(result));
    statements.attachAsDataStream();
    JobGraph graph = environment.getStreamGraph().getJobGraph();
    if (meter.sources() != 1) {
      throw new IllegalStateException(
          "a query must read the events once: query="
              + meter.plan().query()
              + ", sources="
              + meter.sources());
    }
    return graph;
  }
}
