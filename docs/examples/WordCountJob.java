// With the javac and java of a JDK 25, after ./bench --help, which writes the class path:
// javac @faster-bench/target/run.args -d faster-bench/target/classes \
//     docs/examples/WordCountJob.java
// java @faster-bench/target/run.args WordCountJob /tmp/checkpoints
import java.time.Duration;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.Collector;

/** A Flink job that counts words in keyed state, with incremental checkpoints. */
public final class WordCountJob {
  private static final String[] WORDS = {"to", "be", "or", "not", "to", "be"};
  private static final long COUNT = 60_000;

  private WordCountJob() {}

  /** Adds one to the count of its word. */
  private static final class Count extends KeyedProcessFunction<String, String, Long> {
    private static final long serialVersionUID = 1;
    private transient ValueState<Long> count;

    @Override
    public void open(OpenContext context) {
      count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
    }

    @Override
    public void processElement(String word, Context context, Collector<Long> out) throws Exception {
      Long before = count.value();
      long now = before == null ? 1 : before + 1;
      count.update(now);
      out.collect(now);
    }
  }

  /**
   * @param args a directory for checkpoints
   */
  public static void main(String[] args) throws Exception {
    Configuration config = new Configuration();
    config.set(StateBackendOptions.STATE_BACKEND, "io.fasterkv.flink.FasterStateBackendFactory");
    config.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
    config.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, "file://" + args[0]);
    config.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(200));
    config.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(64));
    StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(2, config);
    long most = 0;
    try (CloseableIterator<Long> counts =
        env.fromSequence(0, COUNT - 1)
            .map(number -> WORDS[(int) (number % WORDS.length)])
            .returns(Types.STRING)
            .keyBy(word -> word)
            .process(new Count())
            .returns(Types.LONG)
            .executeAndCollect()) {
      while (counts.hasNext()) {
        most = Math.max(most, counts.next());
      }
    }
    System.out.println("the most frequent word occurs " + most + " times");
    if (most != COUNT / 3) {
      throw new IllegalStateException("a count is wrong: " + most);
    }
  }
}
