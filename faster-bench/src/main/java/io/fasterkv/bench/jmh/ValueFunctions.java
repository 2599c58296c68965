package io.fasterkv.bench.jmh;

import io.fasterkv.api.ByteSpan;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Measures functions on a value in the log, through the span that they receive. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ValueFunctions {
  private static final int BYTES = 100;

  private final MemorySegment log = Arena.ofAuto().allocate(4096, 64);
  private final ByteSpan value = new ByteSpan();
  private final ByteSpan source = ByteSpan.of(new byte[BYTES]);
  private final byte[] output = new byte[BYTES];

  @Benchmark
  public ByteSpan wrap() {
    return value.wrap(log, 64, BYTES, BYTES);
  }

  @Benchmark
  public long addToTheFirstWord() {
    value.wrap(log, 64, BYTES, BYTES);
    long sum = value.getLong(0) + 1;
    value.putLong(0, sum);
    return sum;
  }

  @Benchmark
  public byte[] copyOut() {
    value.wrap(log, 64, BYTES, BYTES).copyTo(0, output, 0, BYTES);
    return output;
  }

  @Benchmark
  public void copyIn() {
    value.wrap(log, 64, BYTES, BYTES).setTo(source);
  }

  @Benchmark
  public boolean compare() {
    return value.wrap(log, 64, BYTES, BYTES).contentEquals(source);
  }
}
