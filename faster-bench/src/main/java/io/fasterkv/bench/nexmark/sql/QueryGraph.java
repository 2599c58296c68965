package io.fasterkv.bench.nexmark.sql;

import io.fasterkv.bench.job.JobMeter;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.TableDescriptor;
import org.apache.flink.table.api.bridge.java.StreamStatementSet;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;

/** Makes a job of a query. */
final class QueryGraph {
  private QueryGraph() {}

  /** The job of a run, with these settings of the cluster and the job. */
  static JobGraph of(Query query, JobMeter meter, Configuration settings) {
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
    statements.add(tables.sqlQuery(query.sql()).insertInto(result));
    statements.attachAsDataStream();
    return environment.getStreamGraph().getJobGraph();
  }
}
