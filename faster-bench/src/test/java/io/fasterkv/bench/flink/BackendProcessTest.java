package io.fasterkv.bench.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.bench.args.Backend;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("long")
class BackendProcessTest {
  private static final int KEYS = 100;
  private static final FlinkPlan PLAN =
      new FlinkPlan(List.of(Backend.HASHMAP), KEYS, KEYS, KEYS, 0, 0, 1, Clock.wall, 1);

  @TempDir private Path directory;

  @Test
  void theSameCallsReadTheSame() throws Exception {
    long sum = 0;
    for (long value : PLAN.data().values) {
      sum += value;
    }
    try (BackendProcess process = BackendProcess.start(Backend.HASHMAP)) {
      process.call(
          new WorkerCall.Open(PLAN, Suite.VALUE, 8 << 20, Backend.HASHMAP, directory.toString()));
      assertThat(process.call(new WorkerCall.Pass(StateRow.valueGet, 0, KEYS)).sum())
          .isEqualTo(sum);
      process.call(new WorkerCall.Reorder());
      WorkerCall.Turn.Done turn =
          process.call(new WorkerCall.Turn(StateRow.valueGet, 7, KEYS, false));
      assertThat(turn.sums()).containsExactly(sum);
      assertThat(turn.measured().operations()).isEqualTo(KEYS);
      assertThat(turn.measured().isAlone()).isFalse();
      assertThat(process.processorNanos()).isPositive();
      process.call(new WorkerCall.Close());
    }
  }

  @Test
  void aFailureIsReportedWithItsTrace() throws Exception {
    try (BackendProcess process = BackendProcess.start(Backend.FASTER)) {
      for (int attempt = 0; attempt < 2; attempt++) {
        assertThatThrownBy(() -> process.call(new WorkerCall.Pass(StateRow.valueGet, 0, 1)))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("backend=faster, call=Pass[row=valueGet, from=0, to=1]")
            .hasMessageContaining("no backend is open")
            .hasMessageContaining("BackendWorker.pass");
      }
    }
  }

  @Test
  void aProcessThatHasEndedIsNamed() throws Exception {
    BackendProcess process = BackendProcess.start(Backend.ROCKSDB);
    process.close();
    assertThatThrownBy(() -> process.call(new WorkerCall.Close()))
        .hasMessage("the process of a backend has ended: backend=rocksdb");
  }

  @Test
  void oneThatHasBeenAskedEndsWell() throws Exception {
    BackendProcess process = BackendProcess.start(Backend.HASHMAP);
    process.call(
        new WorkerCall.Open(PLAN, Suite.VALUE, 8 << 20, Backend.HASHMAP, directory.toString()));
    process.close(); // Fails if the process failed.
    process.close();
  }

  @Test
  @Timeout(120)
  void oneThatDiesInACallIsNamedAndDidNotEndWell() throws Exception {
    int many = 4_000_000;
    FlinkPlan plan =
        new FlinkPlan(List.of(Backend.HASHMAP), many, many, many, 0, 0, 1, Clock.wall, 1);
    BackendProcess process =
        BackendProcess.start(Backend.HASHMAP, List.of("-Xmx48m", "-XX:+ExitOnOutOfMemoryError"));
    assertThatThrownBy(() ->
            process.call(
                new WorkerCall.Open(
                    plan, Suite.VALUE, 8 << 20, Backend.HASHMAP, directory.toString())))
        .hasMessage("the process of a backend has ended: backend=hashmap");
    assertThatThrownBy(process::close)
        .hasMessageStartingWith("the process of a backend has not ended well: backend=hashmap");
  }

  /** There are more processes than processors, and each writes more than a pipe holds. */
  @Test
  @Timeout(120)
  void outputOfManyProcessesIsForwardedAtOnce() throws Exception {
    List<BackendProcess> processes = new ArrayList<>();
    try {
      for (int i = 0; i <= Runtime.getRuntime().availableProcessors(); i++) {
        processes.add(BackendProcess.start(Backend.HASHMAP, List.of("-Xlog:class+load=info")));
      }
      for (BackendProcess process : processes) {
        assertThat(process.call(new WorkerCall.Close())).isTrue();
      }
    } finally {
      IOUtils.closeAll(processes);
    }
  }

  @Test
  void jvmOutputIsNotMistakenForAnAnswer() throws Exception {
    try (BackendProcess process = BackendProcess.start(Backend.HASHMAP, List.of("-Xlog:gc*"))) {
      assertThat(process.call(new WorkerCall.Close())).isTrue();
    }
  }

  @Test
  @Timeout(120)
  void oneThatDoesNotStartIsNamed() {
    assertThatThrownBy(() -> BackendProcess.start(Backend.FASTER, List.of("-Xmx1")))
        .isInstanceOf(IOException.class)
        .hasMessage("the process of a backend did not start: backend=faster");
  }
}
