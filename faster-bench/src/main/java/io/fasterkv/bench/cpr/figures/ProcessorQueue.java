package io.fasterkv.bench.cpr.figures;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Measures how long a runnable thread waited for a processor, by Linux's counters. The store is not
 * responsible for that time: a machine has fewer processors than a benchmark has threads. Used by
 * the thread that has opened it.
 */
final class ProcessorQueue implements AutoCloseable {
  /** Nanoseconds on a processor, nanoseconds in the queue, time slices. */
  private static final Path STATISTICS = Path.of("/proc/thread-self/schedstat");

  private final @Nullable FileChannel channel;
  private final ByteBuffer line = ByteBuffer.allocateDirect(128);

  private ProcessorQueue(@Nullable FileChannel channel) {
    this.channel = channel;
  }

  /** Opens the counters of the calling thread; always 0 if the system does not have them. */
  static ProcessorQueue open() {
    try {
      return new ProcessorQueue(FileChannel.open(STATISTICS, StandardOpenOption.READ));
    } catch (IOException e) {
      return new ProcessorQueue(null);
    }
  }

  /** Whether the system has the counters. */
  static boolean isKnown() {
    return STATISTICS.toFile().canRead();
  }

  /** Nanoseconds in the queue since the thread was started. */
  long nanos() {
    if (channel == null) {
      return 0;
    }
    line.clear();
    try {
      channel.read(line, 0);
    } catch (IOException e) {
      return 0;
    }
    line.flip();
    return secondNumber();
  }

  private long secondNumber() {
    while (line.hasRemaining() && line.get() != ' ') {
      // the first number
    }
    long number = 0;
    while (line.hasRemaining()) {
      int digit = line.get() - '0';
      if (digit < 0 || digit > 9) {
        break;
      }
      number = number * 10 + digit;
    }
    return number;
  }

  @Override
  public void close() throws IOException {
    if (channel != null) {
      channel.close();
    }
  }
}
