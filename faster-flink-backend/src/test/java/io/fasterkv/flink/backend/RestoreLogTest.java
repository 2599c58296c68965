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

/** Tests what a restore logs: its progress, if it takes long, and its end. */
class RestoreLogTest extends IncrementalCheckpoints {
  private static final int KEYS = 5_000;

  /** Bytes of a key group, a key, an empty namespace, and a value with its length. */
  private static final int SAVEPOINT_BYTES = 1 + 4 + 1 + 4 + VALUE_BYTES;

  private static final int LOOKS_IN_BETWEEN = KEYS / 1_024;

  /** Flink's initialization metrics read the clock too: after heads were read, and at the end. */
  private static final int LOOKS_OF_METRICS = 2;

  @RegisterExtension
  private final LoggerAuditingExtension log =
      new LoggerAuditingExtension(OperatorLog.NAME, Level.INFO);

  /** Each read of the clock advances it by ten seconds. */
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

  private List<String> logged(String what) {
    String start = "test operator (1/1): " + what;
    return log.getMessages().stream().filter(line -> line.startsWith(start)).toList();
  }

  @Test
  void aLongRestoreOfAFullSnapshotReportsItsEntries() throws Exception {
    KeyedStateHandle handle = taken(TestSettings.ROOMY);
    assertHolds(backends.open(new Slow(), handle), 0, KEYS, 1);
    List<String> logged = logged("inserting the entries of a full snapshot: percent=");
    assertThat(logged).hasSize(TestBackends.KEY_GROUPS + LOOKS_IN_BETWEEN);
    String all = "entries=" + KEYS + ", bytes=" + KEYS * SAVEPOINT_BYTES;
    assertThat(logged.getLast()).contains("percent=100, " + all);
    assertThat(logged("restored a full snapshot: "))
        .singleElement()
        .asString()
        .contains("keyGroups=" + ALL + ", handles=1, first=")
        .endsWith(
            "insertedEntries="
                + KEYS
                + ", insertedBytes="
                + KEYS * SAVEPOINT_BYTES
                + ", millis="
                + (logged.size() + 1) * 10_000);
  }

  @Test
  void aLongRestoreByRecordsReportsItsProgress() throws Exception {
    backends =
        new TestBackends(
            TestSettings.TINY_INCREMENTAL
                .config()
                .set(FasterOptions.FIXED_MEMORY, MemorySize.ofMebiBytes(256))
                .set(FasterOptions.LOCAL_DIRECTORIES, List.of(directory.toString())));
    KeyedStateHandle handle = taken(TestSettings.TINY_INCREMENTAL);
    try (TestBackends small = new TestBackends(TestSettings.TINY_INCREMENTAL, directory)) {
      assertHolds(small.open(new Slow(), handle), 0, KEYS, 1);
    }
    List<String> logged = logged("inserting the records of a checkpoint: percent=");
    assertThat(logged).hasSizeGreaterThan(LOOKS_IN_BETWEEN);
    assertThat(logged.getFirst()).contains("percent=0, entries=");
    assertThat(logged.getLast()).contains("percent=100, entries=" + KEYS + ", ");
    assertThat(logged("restored an incremental checkpoint: "))
        .singleElement()
        .asString()
        .contains("insertedEntries=" + KEYS + ", insertedBytes=")
        .endsWith(", millis=" + (logged.size() + 1 + LOOKS_OF_METRICS) * 10_000);
  }

  @Test
  void openingALogUnchangedReportsItsProgress() throws Exception {
    KeyedStateHandle handle = taken(TestSettings.TINY_INCREMENTAL);
    assertHolds(backends.open(new Slow(), handle), 0, KEYS, 1);
    assertThat(logged("opening a store on the log of a checkpoint: ")).isNotEmpty();
    assertThat(logged("inserting ")).isEmpty();
    assertThat(logged("restored an incremental checkpoint: "))
        .singleElement()
        .asString()
        .contains("insertedEntries=0, insertedBytes=0, millis=");
  }

  @Test
  void aShortRestoreReportsOnlyItsEnd() throws Exception {
    KeyedStateHandle handle = taken(TestSettings.ROOMY);
    assertHolds(backends.open(new ManualClock(), handle), 0, KEYS, 1);
    assertThat(logged("restored a full snapshot: ")).hasSize(1);
    assertThat(logged("inserting ")).isEmpty();
    assertThat(log.getMessages()).hasSize(1 + logged("opened a state store: ").size());
  }
}
