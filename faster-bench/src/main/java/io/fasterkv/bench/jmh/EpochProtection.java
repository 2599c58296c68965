package io.fasterkv.bench.jmh;

import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.Epochs;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Measures the cost of protecting an operation. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class EpochProtection {
  private static final int USERS = 8;

  private final Epochs epochs =
      new Epochs(
          USERS,
          failure -> {
            throw new IllegalStateException(failure);
          });
  private final EpochUser user = epochs.register();

  @TearDown
  public void close() {
    user.close();
  }

  @Benchmark
  public void protectAndUnprotect() {
    user.protect();
    user.unprotect();
  }

  @Benchmark
  public void protectRefreshAndUnprotect() {
    user.protect();
    user.refresh();
    user.unprotect();
  }
}
