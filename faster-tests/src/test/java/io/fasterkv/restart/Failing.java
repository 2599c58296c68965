package io.fasterkv.restart;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Counts, and fails a number of times, after a few thousand records of each attempt. */
final class Failing extends KeyedProcessFunction<Long, Long, Long> {
  /** How many times a job has failed. */
  static final AtomicInteger failed = new AtomicInteger();

  /** The class loaders of the backend's classes. */
  static final List<WeakReference<ClassLoader>> LOADERS = new ArrayList<>();

  static volatile int failures;
  static volatile long leakedBytes;

  private static final long serialVersionUID = 1L;
  private static final int RECORDS = 10_000;
  private static final String BACKEND = "io.fasterkv.flink.FasterStateBackend";

  private transient ValueState<Long> count;
  private transient int seen;

  @Override
  public void open(OpenContext context) throws Exception {
    count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
    seen = 0;
    Arena.global().allocate(leakedBytes);
    ClassLoader loader =
        Class.forName(BACKEND, false, getRuntimeContext().getUserCodeClassLoader())
            .getClassLoader();
    if (loader != Failing.class.getClassLoader()) {
      synchronized (LOADERS) {
        LOADERS.add(new WeakReference<>(loader));
      }
    }
    System.out.println("attempt=" + failed + " residentBytes=" + residentBytes());
  }

  @Override
  public void processElement(Long number, Context context, Collector<Long> out) throws Exception {
    Long before = count.value();
    count.update(before == null ? 1 : before + 1);
    seen++;
    if (seen == RECORDS && failed.get() < failures) {
      failed.incrementAndGet();
      throw new IllegalStateException("a failure on purpose");
    }
  }

  private static long residentBytes() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmRSS:")) {
        return 1024 * Long.parseLong(line.replaceAll("[^0-9]", ""));
      }
    }
    throw new IOException("/proc/self/status has no VmRSS");
  }
}
