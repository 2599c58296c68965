package io.fasterkv.flink.slowfs;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.PhysicalStateHandleID;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Checkpoint storage that hangs or fails from a given call on. Calls are openings, seeks and reads,
 * in order. A seek or a read hangs until its stream is closed, even if it is interrupted; an
 * opening hangs until its thread is interrupted. Counts the open streams.
 */
public final class HangingStorage implements Closeable {
  private static final int NEVER = Integer.MAX_VALUE;

  private final AtomicInteger open = new AtomicInteger();
  private int calls;
  private int hangsFrom = NEVER;
  private int hanging;
  private int hangingFills;
  private int failsFrom = NEVER;
  private boolean isReleased;
  private boolean hangsFills;

  /** A kind of call. */
  public enum Call {
    OPEN,
    SEEK,
    READ
  }

  private Call failing = Call.OPEN;

  /** Counts calls from 0, and hangs from {@code call} on. */
  public synchronized void hangFrom(int call) {
    calls = 0;
    hangsFrom = call;
    failsFrom = NEVER;
    isReleased = false;
  }

  /** Makes only the reads of threads that copy a log in the background hang. */
  public synchronized void hangFills() {
    hangsFills = true;
    hangsFrom = NEVER;
    failsFrom = NEVER;
    isReleased = false;
  }

  /** Makes each call of a kind fail from now on. */
  public synchronized void fail(Call kind) {
    failsFrom = calls;
    failing = kind;
  }

  /** Stops hanging and failing; hanging calls continue. */
  @Override
  public synchronized void close() {
    isReleased = true;
    hangsFills = false;
    hangsFrom = NEVER;
    failsFrom = NEVER;
    notifyAll();
  }

  /** Number of calls since the count was last reset. */
  public synchronized int calls() {
    return calls;
  }

  /** Number of calls that hang now. */
  public synchronized int hanging() {
    return hanging;
  }

  /** Number of calls that hang now, except those of threads that copy a log. */
  public synchronized int hangingReads() {
    return hanging - hangingFills;
  }

  /** Number of open streams. */
  public int openStreams() {
    return open.get();
  }

  /** Another state handle with the same files, which hang. */
  public IncrementalRemoteKeyedStateHandle wrap(IncrementalRemoteKeyedStateHandle handle) {
    List<HandleAndLocalPath> shared = new ArrayList<>();
    for (HandleAndLocalPath file : handle.getSharedState()) {
      shared.add(HandleAndLocalPath.of(wrap(file.getHandle()), file.getLocalPath()));
    }
    return new IncrementalRemoteKeyedStateHandle(
        handle.getBackendIdentifier(),
        handle.getKeyGroupRange(),
        handle.getCheckpointId(),
        shared,
        List.of(),
        wrap(handle.getMetaDataStateHandle()));
  }

  /** A full snapshot's handle, whose file hangs. */
  public KeyGroupsStateHandle wrap(KeyGroupsStateHandle handle) {
    return new KeyGroupsStateHandle(
        handle.getGroupRangeOffsets(), wrap(handle.getDelegateStateHandle()));
  }

  /** A file that hangs. */
  public StreamStateHandle wrap(StreamStateHandle file) {
    return new Handle(file);
  }

  private void call(Call kind, Stream of) throws IOException {
    synchronized (this) {
      int number = calls++;
      boolean isFill = Thread.currentThread().getName().matches("faster-(fill|lending).*");
      if (number >= failsFrom && kind == failing && !(hangsFills && isFill)) {
        throw new IOException("the storage fails: call=" + kind);
      }
      if (number < hangsFrom && !(hangsFills && isFill)) {
        return;
      }
      int fill = isFill ? 1 : 0;
      hanging++;
      hangingFills += fill;
      notifyAll();
      try {
        hang(of);
      } finally {
        hanging--;
        hangingFills -= fill;
      }
    }
  }

  private synchronized void hang(Stream of) throws IOException {
    boolean isInterrupted = false;
    try {
      while (!isReleased && (of == null || !of.isClosed)) {
        try {
          wait();
        } catch (InterruptedException e) {
          isInterrupted = true;
          if (of == null) {
            throw new IOException("interrupted while a stream was opened", e);
          }
        }
      }
      if (of != null && of.isClosed) {
        throw new IOException("the stream was closed");
      }
    } finally {
      if (isInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private final class Handle implements StreamStateHandle {
    private static final long serialVersionUID = 1L;
    private final StreamStateHandle file;

    Handle(StreamStateHandle file) {
      this.file = file;
    }

    @Override
    public FSDataInputStream openInputStream() throws IOException {
      call(Call.OPEN, null);
      open.incrementAndGet();
      return new Stream(file.openInputStream());
    }

    @Override
    public Optional<byte[]> asBytesIfInMemory() {
      return Optional.empty();
    }

    @Override
    public PhysicalStateHandleID getStreamStateHandleID() {
      return file.getStreamStateHandleID();
    }

    @Override
    public void discardState() throws Exception {
      file.discardState();
    }

    @Override
    public long getStateSize() {
      return file.getStateSize();
    }

    @Override
    public String toString() {
      return file.toString();
    }
  }

  private final class Stream extends FSDataInputStream {
    private final FSDataInputStream in;
    private boolean isClosed;

    Stream(FSDataInputStream in) {
      this.in = in;
    }

    @Override
    public void seek(long position) throws IOException {
      call(Call.SEEK, this);
      in.seek(position);
    }

    @Override
    public long getPos() throws IOException {
      return in.getPos();
    }

    @Override
    public int read() throws IOException {
      call(Call.READ, this);
      return in.read();
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      call(Call.READ, this);
      return in.read(target, offset, length);
    }

    @Override
    public void close() throws IOException {
      synchronized (HangingStorage.this) {
        if (isClosed) {
          return;
        }
        isClosed = true;
        HangingStorage.this.notifyAll();
      }
      open.decrementAndGet();
      in.close();
    }
  }
}
