package io.fasterkv.flink.snapshot;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/**
 * Checkpoint storage in memory that hangs or fails from a given call on. Calls are creations,
 * writes and closings that create a file, in order. A creation hangs until its thread is
 * interrupted; other calls hang until their stream is closed, and no interrupt ends them. Counts
 * the open streams, and the files that were created and not deleted.
 */
public final class HangingWrites implements CheckpointStreamFactory {
  private static final int NEVER = Integer.MAX_VALUE;
  private static final long PATIENCE_SECONDS = 60;

  /** How long the end of a snapshot may take. */
  private static final long BOUND_SECONDS = 5;

  private int calls;
  private int hangsFrom = NEVER;
  private int failsAt = NEVER;
  private boolean isStubborn;
  private boolean closes;
  private int hanging;
  private int open;
  private int mostOpen;
  private int files;

  /**
   * Counts calls from 0, and hangs from {@code call} on.
   *
   * @param isStubborn whether closing a stream that hangs also hangs, until {@link #release}
   */
  public synchronized void hangFrom(int call, boolean isStubborn) {
    calls = 0;
    hangsFrom = call;
    this.isStubborn = isStubborn;
  }

  /** Lets closings that create a file return, even if other calls hang. */
  public synchronized void hangNoClosings() {
    closes = true;
  }

  /** Counts calls from 0, and fails at {@code call}. */
  public synchronized void failAt(int call) {
    calls = 0;
    failsAt = call;
  }

  /** Stops hanging; hanging calls continue. */
  public synchronized void release() {
    hangsFrom = NEVER;
    isStubborn = false;
    notifyAll();
  }

  /** Number of calls so far. */
  public synchronized int calls() {
    return calls;
  }

  public synchronized int openStreams() {
    return open;
  }

  /** The largest number of streams that were open at a time. */
  public synchronized int mostOpenStreams() {
    return mostOpen;
  }

  /** Number of files that were not deleted. */
  public synchronized int files() {
    return files;
  }

  /** Waits until a call hangs. */
  public synchronized void awaitHanging() throws InterruptedException {
    await(PATIENCE_SECONDS, () -> hanging > 0);
  }

  /** Waits until a call hangs, or until a thread has ended; returns whether a call hangs. */
  public synchronized boolean awaitHangingOrEnd(Thread thread) throws InterruptedException {
    await(PATIENCE_SECONDS, () -> hanging > 0 || !thread.isAlive());
    return hanging > 0;
  }

  /** Waits until all streams are closed, which takes five seconds at most. */
  public synchronized void awaitNothingOpen() throws InterruptedException {
    await(BOUND_SECONDS, () -> open == 0 && hanging == 0);
  }

  /**
   * Waits until nothing hangs, no stream is open and every file was deleted: five seconds at most.
   */
  public synchronized void awaitNothingLeft() throws InterruptedException {
    await(BOUND_SECONDS, () -> open == 0 && hanging == 0 && files == 0);
  }

  private void await(long seconds, BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError(
            "open=" + open + ", hanging=" + hanging + ", files=" + files + ", calls=" + calls);
      }
      TimeUnit.MILLISECONDS.timedWait(this, 10);
    }
  }

  @Override
  public CheckpointStateOutputStream createCheckpointStateOutputStream(CheckpointedStateScope scope)
      throws IOException {
    synchronized (this) {
      if (isDue()) {
        hanging++;
        try {
          while (hangsFrom != NEVER) {
            wait();
          }
        } catch (InterruptedException e) {
          throw new InterruptedIOException("interrupted");
        } finally {
          hanging--;
          notifyAll();
        }
      }
      open++;
      mostOpen = Math.max(mostOpen, open);
      return new Stream();
    }
  }

  /** Whether the call that begins now hangs. */
  private boolean isDue() throws IOException {
    int call = calls++;
    if (call == failsAt) {
      throw new IOException("injected");
    }
    return call >= hangsFrom;
  }

  @Override
  public boolean canFastDuplicate(StreamStateHandle handle, CheckpointedStateScope scope) {
    return false;
  }

  @Override
  public List<StreamStateHandle> duplicate(
      List<StreamStateHandle> handles, CheckpointedStateScope scope) {
    throw new UnsupportedOperationException();
  }

  private final class Handle extends ByteStreamStateHandle {
    private static final long serialVersionUID = 1L;
    private boolean isDeleted;

    Handle(byte[] bytes) {
      super(UUID.randomUUID().toString(), bytes);
    }

    @Override
    public void discardState() {
      synchronized (HangingWrites.this) {
        files -= isDeleted ? 0 : 1;
        isDeleted = true;
      }
    }
  }

  private final class Stream extends CheckpointStateOutputStream {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private boolean isClosed;
    private boolean hangs;

    private void call() throws IOException {
      if (isDue()) {
        hanging++;
        hangs = true;
        boolean isInterrupted = false;
        while (hangsFrom != NEVER && (isStubborn || !isClosed)) {
          try {
            HangingWrites.this.wait();
          } catch (InterruptedException e) {
            isInterrupted = true;
          }
        }
        hangs = false;
        hanging--;
        HangingWrites.this.notifyAll();
        if (isInterrupted) {
          Thread.currentThread().interrupt();
        }
      }
      if (isClosed) {
        throw new IOException("the stream is closed");
      }
    }

    @Override
    public void write(int written) throws IOException {
      write(new byte[] {(byte) written}, 0, 1);
    }

    @Override
    public void write(byte[] from, int start, int length) throws IOException {
      synchronized (HangingWrites.this) {
        call();
        bytes.write(from, start, length);
      }
    }

    @Override
    public StreamStateHandle closeAndGetHandle() throws IOException {
      synchronized (HangingWrites.this) {
        if (!closes) {
          call();
        }
        isClosed = true;
        open--;
        files++;
        HangingWrites.this.notifyAll();
        return new Handle(bytes.toByteArray());
      }
    }

    @Override
    public void close() {
      synchronized (HangingWrites.this) {
        boolean isInterrupted = false;
        while (hangs && isStubborn) {
          try {
            HangingWrites.this.wait();
          } catch (InterruptedException e) {
            isInterrupted = true;
          }
        }
        if (!isClosed) {
          isClosed = true;
          open--;
          HangingWrites.this.notifyAll();
        }
        if (isInterrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }

    @Override
    public long getPos() {
      return bytes.size();
    }

    @Override
    public void flush() {}

    @Override
    public void sync() {}
  }
}
