package io.fasterkv.bench.cpr.figures;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.bench.cpr.experiment.RunClock;
import io.fasterkv.bench.workload.Parallel;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ClientBufferTest {
  private static final int ENTRIES = 10;

  private final RunClock clock = new RunClock(1_000_000);
  private final AtomicInteger asked = new AtomicInteger();

  private ClientBuffer buffer(ClientBuffer.Commits commits) {
    return new ClientBuffer(ENTRIES * ClientBuffer.ENTRY_BYTES, commits, clock);
  }

  @Test
  void asksWhenFourFifthsAreFull() {
    ClientBuffer buffer = buffer(asked::incrementAndGet);

    for (int i = 0; i < 8; i++) {
      assertThat(buffer.keep(i, i)).isTrue();
    }
    assertThat(asked).hasValue(0);
    assertThat(buffer.keep(8, 8)).isTrue();
    assertThat(asked).hasValue(1);
  }

  @Test
  void durableRequestsMakeRoom() {
    ClientBuffer buffer = buffer(asked::incrementAndGet);
    for (int i = 0; i < 8; i++) {
      buffer.keep(i, i);
    }
    buffer.trim(8);

    for (int i = 8; i < 16; i++) {
      assertThat(buffer.keep(i, i)).isTrue();
    }
    assertThat(asked).hasValue(0);
  }

  @Test
  void aFullBufferWaitsForTheCommitThatItAsksFor() {
    AtomicInteger kept = new AtomicInteger();
    ClientBuffer[] buffers = new ClientBuffer[1];
    // The waiting thread makes the commit itself as soon as the buffer is full.
    buffers[0] =
        buffer(() -> {
          asked.incrementAndGet();
          if (kept.get() == ENTRIES) {
            buffers[0].trim(ENTRIES);
          }
        });

    for (int i = 0; i < ENTRIES; i++) {
      buffers[0].keep(i, i);
      kept.incrementAndGet();
    }
    assertThat(buffers[0].keep(ENTRIES, 0)).isTrue();
    assertThat(asked.get()).isPositive();
  }

  @Test
  void noClientWaitsAfterTheEndOfTheRun() {
    ClientBuffer buffer = buffer(clock::stop);

    boolean isKept =
        Parallel.run(
                1,
                thread ->
                    (Callable<Boolean>)
                        () -> {
                          boolean all = true;
                          for (int i = 0; i <= ENTRIES; i++) {
                            all &= buffer.keep(i, i);
                          }
                          return all;
                        })
            .getFirst();

    assertThat(isKept).isFalse();
  }
}
