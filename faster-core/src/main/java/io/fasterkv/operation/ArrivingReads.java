package io.fasterkv.operation;

import io.fasterkv.device.LogDevice;
import io.fasterkv.device.ReadQueue;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Reads whose ends are told of when they come, by the device's threads. Only a read that is under
 * way keeps the session that asked for it: a session that nobody refers to is forgotten when its
 * reads have ended.
 */
final class ArrivingReads implements ReadQueue {
  private final LogDevice device;
  private final WeakReference<Arrivals> arrivals;
  private final BlockingQueue<Ended> ended = new LinkedBlockingQueue<>();
  private int underWay;
  private @Nullable IOException failure;

  private record Ended(int tag, @Nullable IOException failure) {}

  ArrivingReads(LogDevice device, Arrivals arrivals) {
    this.device = device;
    this.arrivals = new WeakReference<>(arrivals);
  }

  @Override
  public void read(int tag, long address, MemorySegment target) {
    // The session is using this queue, so it is there.
    Arrivals told = arrivals.get();
    // A device that tells twice is heard once.
    AtomicBoolean isOver = new AtomicBoolean();
    underWay++;
    device.read(
        address,
        target,
        problem -> {
          if (isOver.compareAndSet(false, true)) {
            ended.add(new Ended(tag, problem));
            if (told != null) {
              told.arrived();
            }
          }
        });
  }

  @Override
  public int next(boolean wait) {
    Ended read = wait && underWay > 0 ? take() : ended.poll();
    if (read == null) {
      return NONE;
    }
    underWay--;
    failure = read.failure();
    return read.tag();
  }

  @Override
  public @Nullable IOException failure() {
    return failure;
  }

  @Override
  public void close() {
    while (underWay > 0) {
      next(true);
    }
  }

  private Ended take() {
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
