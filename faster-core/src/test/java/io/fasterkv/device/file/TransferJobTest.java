package io.fasterkv.device.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests jobs whose executor throws but may run them all the same. */
class TransferJobTest {
  private final AtomicInteger transfers = new AtomicInteger();
  private final List<@Nullable IOException> reported = new ArrayList<>();

  @Test
  void aTransferReportedAsFailedIsNotRunLater() {
    Queue<Runnable> queued = new ArrayDeque<>();
    TransferJob.submit(
        job -> {
          queued.add(job);
          throw new StackOverflowError("injected");
        },
        transfers::incrementAndGet,
        reported::add);
    assertThat(reported)
        .singleElement()
        .satisfies(failure -> {
          assertThat(failure).hasCauseInstanceOf(StackOverflowError.class);
        });
    queued.forEach(Runnable::run);
    assertThat(transfers).hasValue(0);
    assertThat(reported).hasSize(1);
  }

  @Test
  void aRunningTransferIsReportedByItsThread() {
    TransferJob.submit(
        job -> {
          job.run();
          throw new OutOfMemoryError("injected");
        },
        transfers::incrementAndGet,
        reported::add);
    assertThat(transfers).hasValue(1);
    assertThat(reported).containsExactly((IOException) null);
  }
}
