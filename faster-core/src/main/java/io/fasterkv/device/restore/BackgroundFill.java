package io.fasterkv.device.restore;

import io.fasterkv.device.NoSpaceException;
import io.fasterkv.memory.OwnThread;
import io.fasterkv.spi.LogOrigin;
import io.fasterkv.spi.LogPiece;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Copies all blocks of a log that is restored lazily, on as many threads as the origin has streams,
 * in the {@link FillOrder}. A stretch that cannot be read now is retried with growing delays. A
 * damaged block ends the fill, as any unexpected failure does: the store accepts no more writes,
 * and the failure names the place.
 *
 * <p>Each thread has a buffer of the store's scratch memory, from one block to {@value
 * #MOST_BUFFER_BYTES} bytes long. All of them together take an eighth of that memory at most, or
 * one block if that is more. So a small store has fewer threads than the origin has streams.
 */
final class BackgroundFill {
  private static final long MOST_BUFFER_BYTES = 128 << 10;
  private static final long SCRATCH_SHARE = 8;
  private static final long FIRST_PAUSE_MILLIS = 100;
  private static final long LONGEST_PAUSE_MILLIS = 10_000;
  private static final long POLL_MILLIS = 20;

  private final LazyRestoreDevice device;
  private final LazyRestoreBlocks blocks;
  private final int streams;
  private final Logger logger;
  private final FillOrder order;
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicInteger running = new AtomicInteger();

  /** The buffers until the fill ends, and the store they were taken from. */
  private final List<MemorySegment> buffers = new ArrayList<>();

  private LazyRestoreDevice.@Nullable Store store;

  private final CountDownLatch closing = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

  /** The latest failure caused by a full disk. */
  private volatile @Nullable NoSpaceException full;

  BackgroundFill(LazyRestoreDevice device, LazyRestoreBlocks blocks, int streams, Logger logger) {
    this.device = device;
    this.logger = logger;
    this.blocks = blocks;
    this.streams = streams;
    order = new FillOrder(blocks);
  }

  /**
   * Starts the fill, unless it was started or closed before.
   *
   * @param user the store that the log is for
   */
  synchronized void start(LazyRestoreDevice.Store user) {
    if (!threads.isEmpty() || isClosing()) {
      return;
    }
    store = user;
    try {
      order.sort(user::heat);
      takeBuffers(user);
      for (MemorySegment buffer : buffers) {
        threads.add(
            Thread.ofPlatform()
                .daemon()
                .name("faster-fill-" + threads.size())
                .unstarted(() -> run(buffer)));
      }
    } catch (Throwable e) {
      // A later start begins again; otherwise its caller would wait forever.
      threads.clear();
      freeBuffers();
      throw e;
    }
    running.set(threads.size());
    startThreads();
  }

  private void takeBuffers(LazyRestoreDevice.Store user) {
    int block = blocks.files().stream().mapToInt(BackgroundFill::longestBlock).max().orElse(1);
    long room = user.scratchBytes() / SCRATCH_SHARE;
    long most = Math.clamp(room / block, 1, Math.clamp(order.count(), 1, streams));
    long bytes = Math.max(block, Math.min(MOST_BUFFER_BYTES, Long.highestOneBit(room / most)));
    buffers.add(user.take((int) bytes));
    while (buffers.size() < most) {
      MemorySegment more = user.tryTake((int) bytes);
      if (more == null) {
        return;
      }
      buffers.add(more);
    }
  }

  /** Blocks end where pieces do, so none is longer than a page. */
  private static int longestBlock(LogOrigin.File file) {
    int longest = file.pieces().stream().mapToInt(LogPiece::bytes).max().orElse(1);
    return Math.min(longest, file.blockBytes());
  }

  /** Threads that cannot start are skipped; the others do their work. */
  private void startThreads() {
    for (int i = 0; i < threads.size(); i++) {
      try {
        threads.get(i).start();
      } catch (Throwable noThread) {
        if (i == 0) {
          failed(noThread);
        }
        for (int notStarted = i; notStarted < threads.size(); notStarted++) {
          threadEnded();
        }
        return;
      }
    }
  }

  /** Notes that an operation has read a block that is not local yet. */
  void missed(int block) {
    order.missed(block);
  }

  /**
   * Waits until all blocks are local.
   *
   * @throws NoSpaceException if the disk has no space for a block; the fill retries it
   */
  void await() throws IOException {
    NoSpaceException before = full;
    try {
      while (!ended.await(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
        NoSpaceException now = full;
        if (now != null && now != before) {
          throw new NoSpaceException(now);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while a log was copied from its origin", e);
    }
    Throwable cause = failure.get();
    if (cause != null) {
      throw new IOException(
          "a log could not be copied from its origin: " + cause.getMessage(), cause);
    }
    if (!blocks.isWhole()) {
      throw new IOException("the store was closed before its log was copied");
    }
  }

  /** Tells all threads to end, even those that wait to retry. Does not wait for them. */
  void stop() {
    closing.countDown();
    List<Thread> started;
    synchronized (this) {
      started = List.copyOf(threads);
    }
    started.forEach(Thread::interrupt);
    if (started.isEmpty()) {
      ended.countDown();
    }
  }

  /**
   * Ends the fill; missing blocks are not copied any more. The caller closes the origin first, so
   * that no read hangs. The last thread of the fill gives the buffers back, even if that thread was
   * abandoned, since it may use its buffer until then.
   *
   * @param deadlineNanos when to stop waiting for threads, by {@link System#nanoTime}
   */
  void close(long deadlineNanos) {
    stop();
    List<Thread> started;
    synchronized (this) {
      started = List.copyOf(threads);
    }
    OwnThread.awaitEnd(started, deadlineNanos, "threads that copy a log from its origin", logger);
    ended.countDown();
  }

  private synchronized void freeBuffers() {
    LazyRestoreDevice.Store user = store;
    if (user != null) {
      buffers.forEach(user::give);
      buffers.clear();
    }
  }

  private void run(MemorySegment buffer) {
    try {
      int stretch = order.next();
      while (stretch != FillOrder.NONE && !isClosing()) {
        copy(stretch, buffer);
        stretch = order.next();
      }
    } catch (Throwable e) {
      failed(e);
    } finally {
      threadEnded();
    }
  }

  private void failed(Throwable cause) {
    boolean isFirst = !isClosing() && failure.compareAndSet(null, cause);
    closing.countDown();
    if (isFirst) {
      device.failed(cause);
      logger.log(
          Level.ERROR,
          "the log cannot be copied from its origin; the store accepts no more writes",
          cause);
    }
  }

  private void threadEnded() {
    if (running.decrementAndGet() == 0) {
      try {
        freeBuffers();
        if (blocks.isWhole()) {
          device.closeOrigin();
        }
      } catch (Throwable e) {
        failed(e);
      } finally {
        ended.countDown();
      }
    }
  }

  private void copy(int stretch, MemorySegment buffer) {
    long pauseMillis = FIRST_PAUSE_MILLIS;
    while (!isClosing() && order.isWanted(stretch)) {
      try {
        copyOnce(stretch, buffer);
        return;
      } catch (IOException e) {
        if (isClosing()) {
          return;
        }
        logger.log(
            Level.WARNING,
            "a part of the log cannot be copied now; it is read from its origin until a retry:"
                + " millis="
                + pauseMillis
                + ", "
                + place(stretch),
            e);
        full = e instanceof NoSpaceException refusal ? refusal : full;
        pause(pauseMillis);
        pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
      }
    }
  }

  private String place(int stretch) {
    int first = order.first(stretch);
    return blocks.file(first).place(blocks.from(first));
  }

  private void copyOnce(int stretch, MemorySegment buffer) throws IOException {
    int block = order.first(stretch);
    int end = order.end(stretch);
    blocks.file(block).prepare();
    while (block < end && !isClosing()) {
      if (blocks.isLocal(block)) {
        block++;
      } else {
        int until = endOfRead(block, end, buffer.byteSize());
        long bytes = blocks.until(until - 1) - blocks.from(block);
        device.copy(block, until, buffer.asSlice(0, bytes));
        block = until;
      }
    }
  }

  /** How many missing blocks one read copies: as many as fit the buffer. */
  private int endOfRead(int block, int end, long bufferBytes) {
    long from = blocks.from(block);
    int until = block + 1;
    while (until < end && !blocks.isLocal(until) && blocks.until(until) - from <= bufferBytes) {
      until++;
    }
    return until;
  }

  private boolean isClosing() {
    return closing.getCount() == 0;
  }

  private void pause(long millis) {
    try {
      if (closing.await(millis, TimeUnit.MILLISECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      // The fill is closing.
    }
  }
}
