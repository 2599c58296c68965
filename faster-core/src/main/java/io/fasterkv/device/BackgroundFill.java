package io.fasterkv.device;

import io.fasterkv.api.LogOrigin;
import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.OwnThread;
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
 * Copies all blocks of a borrowed log, on as many threads as the origin has streams, in the {@link
 * FillOrder}. A stretch that cannot be read now is retried with growing delays. A damaged block
 * ends the fill, as any unexpected failure does: the store accepts no more writes, and the failure
 * names the place.
 *
 * <p>Each thread reads into an off-heap buffer of {@value #BUFFER_BYTES} bytes, or of one block if
 * that is larger. Until the fill ends, there are {@code streams} buffers, 2 MiB with 16 streams.
 * They are not part of the store's budget.
 */
final class BackgroundFill {
  private static final Logger LOG = System.getLogger(BackgroundFill.class.getName());
  private static final int BUFFER_BYTES = 128 << 10;
  private static final long FIRST_PAUSE_MILLIS = 100;
  private static final long LONGEST_PAUSE_MILLIS = 10_000;
  private static final long POLL_MILLIS = 20;

  private final BorrowingDevice device;
  private final BorrowedBlocks blocks;
  private final int streams;
  private final FillOrder order;
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicInteger running = new AtomicInteger();

  /** Owns the buffers until the fill ends. */
  private @Nullable OffHeapArena memory;

  private final CountDownLatch closing = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

  /** The latest failure caused by a full disk. */
  private volatile @Nullable NoSpaceException full;

  BackgroundFill(BorrowingDevice device, BorrowedBlocks blocks, int streams) {
    this.device = device;
    this.blocks = blocks;
    this.streams = streams;
    order = new FillOrder(blocks);
  }

  /** Starts the fill, unless it was started or closed before. */
  synchronized void start() {
    if (!threads.isEmpty() || isClosing()) {
      return;
    }
    int count = Math.clamp(order.count(), 1, streams);
    int bytes = blocks.files().stream().mapToInt(LogOrigin.File::blockBytes).max().orElse(1);
    long bufferBytes = Math.max(bytes, BUFFER_BYTES);
    memory = new OffHeapArena(new MemoryBudget(count * bufferBytes));
    try {
      makeThreads(memory, count, bufferBytes);
    } catch (Throwable e) {
      // A later start begins again; otherwise its caller would wait forever.
      threads.clear();
      freeBuffers();
      throw e;
    }
    running.set(count);
    startThreads();
  }

  private void makeThreads(OffHeapArena arena, int count, long bufferBytes) {
    for (int i = 0; i < count; i++) {
      MemorySegment buffer =
          arena.allocate("fill buffers", bufferBytes, OffHeapArena.PAGE_ALIGNMENT);
      threads.add(
          Thread.ofPlatform().daemon().name("faster-fill-" + i).unstarted(() -> run(buffer)));
    }
  }

  /** If a thread cannot be started, the others do its work. */
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
    if (blocks.missing() > 0) {
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
   * that no read hangs. The last thread of the fill frees the buffers, even if that thread was
   * abandoned: a transfer may use them until then, and memory in use cannot be freed.
   *
   * @param deadlineNanos when to stop waiting for threads, by {@link System#nanoTime}
   */
  void close(long deadlineNanos) {
    stop();
    List<Thread> started;
    synchronized (this) {
      started = List.copyOf(threads);
    }
    OwnThread.awaitEnd(started, deadlineNanos, "threads that copy a log from its origin");
    ended.countDown();
  }

  private void freeBuffers() {
    OffHeapArena arena;
    synchronized (this) {
      arena = memory;
      memory = null;
    }
    if (arena != null) {
      arena.close();
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
      LOG.log(Level.ERROR, "a log cannot be copied from its origin", cause);
    }
  }

  private void threadEnded() {
    if (running.decrementAndGet() == 0) {
      try {
        freeBuffers();
        if (blocks.missing() == 0) {
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
        LOG.log(
            Level.WARNING,
            "a part of a log cannot be copied now; it is read from its origin until a retry:"
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
    while (block < end && !isClosing()) {
      if (blocks.isHere(block)) {
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
    while (until < end && !blocks.isHere(until) && blocks.until(until) - from <= bufferBytes) {
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
