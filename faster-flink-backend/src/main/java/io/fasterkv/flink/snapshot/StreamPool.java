package io.fasterkv.flink.snapshot;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.jspecify.annotations.Nullable;

/**
 * Reads ranges of files of checkpoint storage, on any number of threads. A stream stays open after
 * a read for the next read of the same file. So most reads open none, which would cost tens of
 * milliseconds or a new connection. A stream whose read or seek fails is closed. Safe for all
 * threads.
 */
public final class StreamPool implements Closeable {
  /** The heap memory of an open stream. */
  public static final long BYTES_A_STREAM = 2 * BlockTable.BLOCK_BYTES;

  private final OpenStreams streams;
  private final int mostIdle;
  private final @Nullable WholeFiles wholeFiles;
  private final Map<StreamStateHandle, Copy> copies = new ConcurrentHashMap<>();

  /** Idle streams; the most recently used one is at the end. */
  private final List<Positioned> idle = new ArrayList<>();

  /**
   * @param streams opens and closes them
   * @param mostIdle how many idle streams stay open
   */
  public StreamPool(OpenStreams streams, int mostIdle) {
    this(streams, mostIdle, null);
  }

  /**
   * @param wholeFiles copies files of which all is read; null if none is copied
   */
  public StreamPool(OpenStreams streams, int mostIdle, @Nullable WholeFiles wholeFiles) {
    this.streams = streams;
    this.mostIdle = mostIdle;
    this.wholeFiles = wholeFiles;
  }

  /** The local copy of a file. */
  private static final class Copy {
    private boolean isTried;
    private volatile @Nullable StreamStateHandle local;

    synchronized void make(WholeFiles files, StreamStateHandle file) {
      if (!isTried) {
        isTried = true;
        local = files.copy(file);
      }
    }
  }

  /**
   * Announces that all of a file will be read. If its storage can copy whole files, this blocks
   * until the file is local; reads by other threads go on in the meantime.
   */
  void prepare(StreamStateHandle file) {
    if (wholeFiles != null) {
      copies.computeIfAbsent(file, handle -> new Copy()).make(wholeFiles, file);
    }
  }

  /** The copy of a file, or the file itself. */
  private StreamStateHandle nearest(StreamStateHandle file) {
    Copy copy = copies.get(file);
    StreamStateHandle local = copy == null ? null : copy.local;
    return local == null ? file : local;
  }

  /** A stream and its position in the file. */
  private static final class Positioned implements Input {
    private final StreamStateHandle file;
    private final FSDataInputStream in;

    private final byte[] stored = new byte[BlockTable.BLOCK_BYTES];

    private final byte[] expanded = new byte[BlockTable.BLOCK_BYTES];
    private long position;

    Positioned(StreamStateHandle file, FSDataInputStream in) {
      this.file = file;
      this.in = in;
    }

    void seek(long offset) throws IOException {
      if (position != offset) {
        in.seek(offset);
        position = offset;
      }
    }

    @Override
    public boolean read(int length, MemorySegment target) throws IOException {
      fill(length);
      byte[] bytes = stored;
      if (length < target.byteSize()) {
        if (!BlockPacker.unpack(stored, length, expanded, (int) target.byteSize())) {
          return false;
        }
        bytes = expanded;
      }
      MemorySegment.copy(bytes, 0, target, ValueLayout.JAVA_BYTE, 0, (int) target.byteSize());
      return true;
    }

    /** Reads the next bytes into {@link #stored}. */
    private void fill(int length) throws IOException {
      for (int done = 0; done < length; ) {
        int read = in.read(stored, done, length - done);
        if (read < 0) {
          throw new IOException(
              "a file of a checkpoint ends too early: file="
                  + Blocks.nameOf(file)
                  + ", offset="
                  + position
                  + ", fileBytes="
                  + file.getStateSize());
        }
        position += read;
        done += read;
      }
    }
  }

  /** The next bytes of a file. */
  interface Input {
    /**
     * Fills {@code target} from the next {@code length} bytes, which are expanded if they are fewer
     * than the target's.
     *
     * @param length at most {@code BlockTable.BLOCK_BYTES}
     * @return false if the bytes cannot be expanded
     */
    boolean read(int length, MemorySegment target) throws IOException;
  }

  /** Reads bytes in order. */
  @FunctionalInterface
  interface Reading {
    void read(Input input) throws IOException;
  }

  /**
   * Fills {@code target} with the bytes of a file from an offset on.
   *
   * @throws IOException if they cannot be read, or if the streams are closed
   */
  public void read(StreamStateHandle file, long offset, MemorySegment target) throws IOException {
    read(file, offset, input -> readAll(input, target));
  }

  private static void readAll(Input input, MemorySegment target) throws IOException {
    long most = BlockTable.BLOCK_BYTES;
    for (long at = 0; at < target.byteSize(); at += most) {
      int length = (int) Math.min(most, target.byteSize() - at);
      input.read(length, target.asSlice(at, length));
    }
  }

  /**
   * Reads a file from an offset on.
   *
   * @throws IOException if it cannot be read, if {@code reading} fails, or if the streams are
   *     closed
   */
  void read(StreamStateHandle file, long offset, Reading reading) throws IOException {
    StreamStateHandle source = nearest(file);
    Positioned stream = take(source, offset);
    if (stream == null) {
      stream = new Positioned(source, streams.open(source::openInputStream));
    }
    boolean isRead = false;
    try {
      stream.seek(offset);
      reading.read(stream);
      isRead = true;
    } finally {
      if (isRead) {
        give(stream);
      } else {
        streams.close(stream.in);
      }
    }
  }

  /** Returns an idle stream of a file, preferably one at the offset. */
  private synchronized @Nullable Positioned take(StreamStateHandle file, long offset) {
    int found = -1;
    for (int i = 0; i < idle.size(); i++) {
      Positioned stream = idle.get(i);
      if (stream.file == file && (found < 0 || stream.position == offset)) {
        found = i;
      }
    }
    return found < 0 ? null : idle.remove(found);
  }

  private void give(Positioned stream) {
    Positioned oldest;
    synchronized (this) {
      idle.add(stream);
      oldest = idle.size() > mostIdle ? idle.removeFirst() : null;
    }
    if (oldest != null) {
      streams.close(oldest.in);
    }
  }

  /** Closes all streams and removes copies. Running reads fail. */
  @Override
  public void close() {
    streams.close();
    synchronized (this) {
      idle.clear();
    }
    if (wholeFiles != null) {
      wholeFiles.delete();
    }
  }
}
