package io.fasterkv.flink.backend;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.PhysicalStateHandleID;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Stores checkpoint files in memory, counts the bytes written, and rejects reads and deletions of a
 * deleted file. Thread-safe, since a checkpoint writes its files on several threads.
 */
final class SharedFiles implements CheckpointStreamFactory {
  private final Map<String, byte[]> files = new ConcurrentHashMap<>();

  // Guarded by this.
  private int made;
  private int failAfter = Integer.MAX_VALUE;
  private long sharedBytes;
  private long exclusiveBytes;

  private volatile Runnable whenExclusive = () -> {};
  private volatile boolean refusesLending;

  /** Bytes written so far to shared files. */
  synchronized long sharedBytes() {
    return sharedBytes;
  }

  synchronized long exclusiveBytes() {
    return exclusiveBytes;
  }

  /** The names of the files. */
  Set<String> names() {
    return Set.copyOf(files.keySet());
  }

  /** Number of files. */
  int count() {
    return files.size();
  }

  /** Lets {@code more} files succeed; the next one fails when it is closed, and no other. */
  synchronized void failAfter(int more) {
    failAfter = made + more;
  }

  /** Sets an action that runs after a file that is not shared has been closed. */
  void whenExclusive(Runnable action) {
    whenExclusive = action;
  }

  /** Sets whether threads that copy a log to disk can read nothing. Other threads always can. */
  void refuseLending(boolean refuses) {
    refusesLending = refuses;
  }

  /** Replaces the content of a file. */
  void replace(StreamStateHandle handle, byte[] bytes) {
    files.put(((Handle) handle).name, bytes);
  }

  byte[] bytes(StreamStateHandle handle) {
    return files.get(((Handle) handle).name);
  }

  @Override
  public CheckpointStateOutputStream createCheckpointStateOutputStream(
      CheckpointedStateScope scope) {
    return new Out(scope);
  }

  @Override
  public boolean canFastDuplicate(StreamStateHandle stateHandle, CheckpointedStateScope scope) {
    return false;
  }

  @Override
  public List<StreamStateHandle> duplicate(
      List<StreamStateHandle> stateHandles, CheckpointedStateScope scope) throws IOException {
    throw new IOException("duplication is not supported");
  }

  private synchronized String add(byte[] bytes, boolean isShared) throws IOException {
    if (made == failAfter) {
      failAfter = Integer.MAX_VALUE;
      throw new IOException("no space left");
    }
    String name = "file-" + made++;
    files.put(name, bytes);
    if (isShared) {
      sharedBytes += bytes.length;
    } else {
      exclusiveBytes += bytes.length;
    }
    return name;
  }

  private final class Out extends CheckpointStateOutputStream {
    private final CheckpointedStateScope scope;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    Out(CheckpointedStateScope scope) {
      this.scope = scope;
    }

    @Override
    public StreamStateHandle closeAndGetHandle() throws IOException {
      boolean isShared = scope == CheckpointedStateScope.SHARED;
      String name = add(bytes.toByteArray(), isShared);
      if (!isShared) {
        whenExclusive.run();
      }
      return new Handle(name, bytes.size());
    }

    @Override
    public void write(int value) {
      bytes.write(value);
    }

    @Override
    public void write(byte[] source, int offset, int length) {
      bytes.write(source, offset, length);
    }

    @Override
    public long getPos() {
      return bytes.size();
    }

    @Override
    public void flush() {}

    @Override
    public void sync() {}

    @Override
    public void close() {}
  }

  private final class Handle implements StreamStateHandle {
    private static final long serialVersionUID = 1L;
    private final String name;
    private final long size;

    Handle(String name, long size) {
      this.name = name;
      this.size = size;
    }

    @Override
    public FSDataInputStream openInputStream() throws IOException {
      byte[] bytes = files.get(name);
      if (bytes == null) {
        throw new IOException("the file was deleted: " + name);
      }
      return new In(bytes);
    }

    @Override
    public Optional<byte[]> asBytesIfInMemory() {
      return Optional.empty();
    }

    @Override
    public PhysicalStateHandleID getStreamStateHandleID() {
      return new PhysicalStateHandleID(name);
    }

    @Override
    public void discardState() throws IOException {
      if (files.remove(name) == null) {
        throw new IOException("the file was deleted before: " + name);
      }
    }

    @Override
    public long getStateSize() {
      return size;
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private final class In extends FSDataInputStream {
    private final byte[] bytes;
    private ByteArrayInputStream in;

    In(byte[] bytes) {
      this.bytes = bytes;
      in = new ByteArrayInputStream(bytes);
    }

    @Override
    public void seek(long position) {
      in = new ByteArrayInputStream(bytes, (int) position, bytes.length - (int) position);
    }

    @Override
    public long getPos() {
      return bytes.length - in.available();
    }

    @Override
    public int read() {
      return in.read();
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      if (refusesLending && Thread.currentThread().getName().startsWith("faster-fill")) {
        throw new IOException("refused");
      }
      return in.read(target, offset, length);
    }
  }
}
