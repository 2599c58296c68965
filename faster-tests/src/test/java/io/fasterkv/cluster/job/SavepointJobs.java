package io.fasterkv.cluster.job;

import java.io.IOException;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.state.api.OperatorIdentifier;
import org.apache.flink.state.api.OperatorTransformation;
import org.apache.flink.state.api.SavepointReader;
import org.apache.flink.state.api.SavepointWriter;
import org.apache.flink.state.api.functions.KeyedStateBootstrapFunction;
import org.apache.flink.state.api.functions.KeyedStateReaderFunction;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.Collector;

/** Batch jobs of the State Processor API that read and write the counting job's state. */
public final class SavepointJobs {
  private static final OperatorIdentifier COUNT = OperatorIdentifier.forUid("count");
  private static final int MAX_PARALLELISM = 128;

  private SavepointJobs() {}

  /** Adds a job that emits the state and timers of each key in a savepoint or checkpoint. */
  public static void read(
      StreamExecutionEnvironment env, String savepoint, StateBackend backend, String results)
      throws IOException {
    SavepointReader.read(env, savepoint, backend)
        .readKeyedState(COUNT, new Read(), Types.LONG, Types.STRING)
        .sinkTo(new FactSink(results));
  }

  /** Adds a job that writes the savepoint of a counting job that has counted all numbers. */
  public static void write(
      StreamExecutionEnvironment env, CountingPlan plan, StateBackend backend, String savepoint) {
    long keys = plan.keys();
    SavepointWriter.newSavepoint(env, backend, MAX_PARALLELISM)
        .withOperator(
            COUNT,
            OperatorTransformation.bootstrapWith(env.fromSequence(0, plan.numbers() - 1))
                .keyBy(number -> number % keys, Types.LONG)
                .transform(new Write()))
        .write(savepoint);
  }

  private static final class Read extends KeyedStateReaderFunction<Long, String> {
    private static final long serialVersionUID = 1L;

    private transient Counted counted;

    @Override
    public void open(OpenContext context) {
      counted = new Counted(getRuntimeContext());
    }

    @Override
    public void readKey(Long key, KeyedStateReaderFunction.Context context, Collector<String> out)
        throws Exception {
      out.collect(counted.fact(key) + " timers=" + context.registeredEventTimeTimers());
    }
  }

  private static final class Write extends KeyedStateBootstrapFunction<Long, Long> {
    private static final long serialVersionUID = 1L;

    private transient Counted counted;

    @Override
    public void open(OpenContext context) {
      counted = new Counted(getRuntimeContext());
    }

    @Override
    public void processElement(Long number, KeyedStateBootstrapFunction<Long, Long>.Context context)
        throws Exception {
      counted.add(context.getCurrentKey(), number);
      context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
    }
  }
}
