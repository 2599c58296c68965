package io.fasterkv.bench.slow;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Counts the traffic through the streams of a file system. Safe for all threads. */
public final class Traffic {
  private final AtomicInteger open = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();
  private final AtomicLong readBytes = new AtomicLong();

  void opened() {
    int now = open.incrementAndGet();
    most.accumulateAndGet(now, Math::max);
  }

  void closed() {
    open.decrementAndGet();
  }

  void read(long bytes) {
    readBytes.addAndGet(bytes);
  }

  /** The number of open streams. */
  public int openStreams() {
    return open.get();
  }

  /** The highest number of open streams since {@link #reset}. */
  public int mostStreams() {
    return most.get();
  }

  /** Bytes that were read since {@link #reset}. */
  public long readBytes() {
    return readBytes.get();
  }

  /** Restarts the counts. */
  public void reset() {
    most.set(open.get());
    readBytes.set(0);
  }
}
