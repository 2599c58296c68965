package io.fasterkv.device;

import io.fasterkv.state.StoreFailure;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A queue of reads over any device. The device's threads add reads that have ended; the caller's
 * thread removes them. If a device reports the end of a read twice, the queue ignores the second
 * report; otherwise it would be mistaken for the end of the next read with that tag.
 *
 * <p>Each read is itself the entry in the queue, so that its end needs no memory. If an end were
 * lost, its caller would wait forever.
 */
final class CompletedReads implements ReadQueue {

  private final class Read implements LogDevice.Completion {
    private final int tag;
    private final @Nullable Runnable listener;
    private boolean isOver;
    private volatile boolean isNotified;
    private @Nullable IOException failure;

    /** The read that ended after this one. */
    private @Nullable Read next;

    Read(int tag, @Nullable Runnable listener) {
      this.tag = tag;
      this.listener = listener;
    }

    @Override
    public void completed(@Nullable IOException cause) {
      synchronized (lock) {
        if (!isOver) {
          end(cause);
        }
      }
      // Report the end again if the listener threw.
      if (listener != null && !isNotified) {
        listener.run();
        isNotified = true;
      }
    }

    private void end(@Nullable IOException cause) {
      isOver = true;
      failure = cause;
      if (last == null) {
        first = this;
      } else {
        last.next = this;
      }
      last = this;
      lock.notifyAll();
    }
  }

  private final LogDevice device;
  private final Supplier<? extends @Nullable Runnable> listeners;
  private final Object lock = new Object();
  private int underWay;
  private @Nullable IOException failure;

  /** Reads that have ended, oldest first; accessed under the lock. */
  private @Nullable Read first;

  private @Nullable Read last;

  /** A queue whose caller polls for ended reads. */
  CompletedReads(LogDevice device) {
    this(device, () -> null);
  }

  /**
   * Creates a queue that reports each end to a listener.
   *
   * @param device the device to read from
   * @param listeners returns the listener for each read. The listener runs when the read has ended,
   *     on a thread of the device. A read in progress references its listener; the queue does not
   */
  CompletedReads(LogDevice device, Supplier<? extends @Nullable Runnable> listeners) {
    this.device = device;
    this.listeners = listeners;
  }

  @Override
  public void read(int tag, long address, MemorySegment target) {
    Read read = new Read(tag, listeners.get());
    underWay++;
    try {
      device.read(address, target, read);
    } catch (Throwable e) {
      // The read fails with this, unless its end was reported before.
      read.completed(StoreFailure.asIoException(e));
    }
  }

  @Override
  public int next(boolean wait) {
    Read done = take(wait && underWay > 0);
    if (done == null) {
      return NONE;
    }
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
      // Until the read has ended, its memory belongs to the device.
    }
  }

  private @Nullable Read take(boolean wait) {
    boolean isInterrupted = false;
    try {
      synchronized (lock) {
        while (first == null && wait) {
          try {
            lock.wait();
          } catch (InterruptedException e) {
            isInterrupted = true;
          }
        }
        Read oldest = first;
        if (oldest != null) {
          first = oldest.next;
          last = first == null ? null : last;
        }
        return oldest;
      }
    } finally {
      if (isInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
