package io.fasterkv.device;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A queue of reads over any device: the device's threads put in what has ended, the caller's takes
 * it out. A device that tells twice of one read is heard once: otherwise the second time would pass
 * for the end of the next read with that tag.
 */
final class CompletedReads implements ReadQueue {

  private final class Read implements LogDevice.Completion {
    private final int tag;
    private final AtomicBoolean isOver = new AtomicBoolean();
    private @Nullable IOException failure;

    Read(int tag) {
      this.tag = tag;
    }

    @Override
    public void completed(@Nullable IOException cause) {
      if (isOver.compareAndSet(false, true)) {
        failure = cause;
        ended.add(this);
      }
    }
  }

  private final LogDevice device;
  private final BlockingQueue<Read> ended = new LinkedBlockingQueue<>();
  private int underWay;
  private @Nullable IOException failure;

  CompletedReads(LogDevice device) {
    this.device = device;
  }

  @Override
  public void read(int tag, long address, MemorySegment target) {
    underWay++;
    device.read(address, target, new Read(tag));
  }

  @Override
  public int next(boolean wait) {
    Read read = ended.poll();
    if (read == null && (!wait || underWay == 0)) {
      return NONE;
    }
    Read done = read == null ? take() : read;
    underWay--;
    failure = done.failure;
    return done.tag;
  }

  @Override
  public @Nullable IOException failure() {
    return failure;
  }

  @Override
  public void close() {
    while (next(true) != NONE) {
      // Its memory is the device's until it has ended.
    }
  }

  private Read take() {
    boolean isInterrupted = false;
    try {
      while (true) {
        try {
          return ended.take();
        } catch (InterruptedException e) {
          isInterrupted = true;
        }
      }
    } finally {
      if (isInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
