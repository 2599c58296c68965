package io.fasterkv.compaction;

import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.Engine;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a log small on a thread of its own. A pass begins when the log has become twice as large as
 * the last pass left it, and larger than memory; it goes over the log as it was then, a piece at a
 * time, and frees each piece before it takes the next. So the log stays within twice its live bytes
 * and what is written during a pass; a pass costs at most as much writing as there was since the
 * last; and a store that nobody writes to is left alone.
 */
public final class BackgroundCompaction implements AutoCloseable {
  private static final long GROWTH = 2;
  private static final long PIECES = 16;
  private static final long LOOK_NANOS = 50_000_000;

  private final Engine engine;
  private final Compactor compactor;
  private final long memoryBytes;
  private final Thread thread;
  private long sizeAfterPass;
  private volatile boolean isClosed;
  private volatile @Nullable Throwable failure;

  /**
   * @param memoryBytes the log's memory: a smaller log is not worth compacting
   */
  public BackgroundCompaction(Engine engine, Compactor compactor, long memoryBytes, String name) {
    this.engine = engine;
    this.memoryBytes = memoryBytes;
    this.compactor = compactor;
    thread = Thread.ofPlatform().daemon().name("faster-compaction-" + name).start(this::run);
  }

  /** What has ended compaction before its time; null while all is well. */
  public @Nullable Throwable failure() {
    return failure;
  }

  /** Ends the thread after the piece it is at. */
  @Override
  public void close() {
    isClosed = true;
    LockSupport.unpark(thread);
    boolean isInterrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        isInterrupted = true;
      }
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try {
      while (!isClosed) {
        if (size() > Math.max(GROWTH * sizeAfterPass, memoryBytes)) {
          pass();
        } else {
          LockSupport.parkNanos(LOOK_NANOS);
        }
      }
    } catch (RuntimeException | Error e) {
      failure = e;
      engine.log().fail(e);
    }
  }

  private void pass() {
    try {
      compactAll();
    } catch (OutOfBudget e) {
      // Sessions and scans have the scratch memory for now; until they give it back, the log grows.
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  private void compactAll() {
    HybridLog log = engine.log();
    long end = log.flushedAddress();
    long piece = Math.max(log.pageBytes(), (end - log.beginAddress()) / PIECES);
    while (!isClosed && log.beginAddress() + log.pageBytes() <= end) {
      if (compactor.compact(Math.min(end, log.beginAddress() + piece)) == 0) {
        break;
      }
    }
    sizeAfterPass = size();
  }

  private long size() {
    return engine.log().tailAddress() - engine.log().beginAddress();
  }
}
