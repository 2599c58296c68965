package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.TestSettings;
import io.fasterkv.flink.config.FasterOptions;
import java.util.List;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.testutils.logging.LoggerAuditingExtension;
import org.apache.flink.util.clock.Clock;
import org.apache.flink.util.clock.ManualClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.event.Level;

/** What a restore tells in the log: how far it has come if it takes long, and its end. */
class RestoreLogTest extends IncrementalCheckpoints {
  private static final int KEYS = 5_000;

  /** A key group, the key, a namespace of nothing, and the value with its length. */
  private static final int SAVEPOINT_BYTES = 1 + 4 + 1 + 4 + VALUE_BYTES;

  private static final int LOOKS_IN_BETWEEN = KEYS / 1_024;

  /**
   * Flink's initialization metrics look at the clock, too: when heads were read, and at the end.
   */
  private static final int LOOKS_OF_METRICS = 2;

  @RegisterExtension
  private final LoggerAuditingExtension log =
      new LoggerAuditingExtension("io.fasterkv.flink.restore", Level.INFO);

  /** Each look at it takes ten seconds. */
  private static final class Slow extends Clock {
    private long millis;

    @Override
    public long absoluteTimeMillis() {
      return relativeTimeMillis();
    }

    @Override
    public long relativeTimeMillis() {
      return millis += 10_000;
    }

    @Override
    public long relativeTimeNanos() {
      return relativeTimeMillis() * 1_000_000;
    }
  }

  private KeyedStateHandle taken(TestSettings settings) throws Exception {
    FasterKeyedStateBackend<Integer> backend = open(settings);
    put(backend, 0, KEYS, 1);
    KeyedStateHandle handle = TestBackends.snapshot(backend);
    backend.dispose();
    return handle;
  }

  private List<String> told(String what) {
    return log.getMessages().stream().filter(line -> line.startsWith(what)).toList();
  }

  @Test
  void aFullSnapshotThatIsPutInForLongIsToldEntryByEntry() throws Exception {
    KeyedStateHandle handle = taken(TestSettings.ROOMY);
    assertHolds(backends.open(new Slow(), handle), 0, KEYS, 1);
    List<String> told = told("putting the entries of a full snapshot into a store: percent=");
    assertThat(told).hasSize(TestBackends.KEY_GROUPS + LOOKS_IN_BETWEEN);
    String all = "entries=" + KEYS + ", bytes=" + KEYS * SAVEPOINT_BYTES;
    assertThat(told.getLast()).contains("percent=100, " + all);
    assertThat(told("restored a full snapshot: "))
        .singleElement()
        .asString()
        .contains("keyGroups=" + ALL + ", handles=1, first=")
        .endsWith(all + ", millis=" + (told.size() + 1) * 10_000);
  }

  @Test
  void aLogThatIsReadRecordByRecordForLongIsTold() throws Exception {
    backends =
        new TestBackends(
            TestSettings.TINY_INCREMENTAL
                .config()
                .set(FasterOptions.FIXED_MEMORY, MemorySize.ofMebiBytes(32))
                .set(FasterOptions.LOCAL_DIRECTORIES, List.of(directory.toString())));
    KeyedStateHandle handle = taken(TestSettings.TINY_INCREMENTAL);
    try (TestBackends small = new TestBackends(TestSettings.TINY_INCREMENTAL, directory)) {
      assertHolds(small.open(new Slow(), handle), 0, KEYS, 1);
    }
    List<String> told = told("putting the records of a checkpoint into a store: percent=");
    assertThat(told).hasSizeGreaterThan(LOOKS_IN_BETWEEN);
    assertThat(told.getFirst()).contains("percent=0, entries=");
    assertThat(told.getLast()).contains("percent=100, entries=" + KEYS + ", ");
    assertThat(told("restored an incremental checkpoint: "))
        .singleElement()
        .asString()
        .contains("entries put in of that=" + KEYS + ", bytes=")
        .endsWith(", millis=" + (told.size() + 1 + LOOKS_OF_METRICS) * 10_000);
  }

  @Test
  void aLogThatIsTakenAsItIsIsToldWhileItIsOpened() throws Exception {
    KeyedStateHandle handle = taken(TestSettings.TINY_INCREMENTAL);
    assertHolds(backends.open(new Slow(), handle), 0, KEYS, 1);
    assertThat(told("opening a store on the log of a checkpoint: ")).isNotEmpty();
    assertThat(told("putting ")).isEmpty();
    assertThat(told("restored an incremental checkpoint: "))
        .singleElement()
        .asString()
        .contains("entries put in of that=0, bytes=0, millis=");
  }

  @Test
  void whatIsDoneSoonIsToldInTheEndAlone() throws Exception {
    KeyedStateHandle handle = taken(TestSettings.ROOMY);
    assertHolds(backends.open(new ManualClock(), handle), 0, KEYS, 1);
    assertThat(log.getMessages()).singleElement().asString().startsWith("restored a full snapshot");
  }
}
