package io.fasterkv.flink.snapshot;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
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
  private static final int TRANSFER_BYTES = 64 << 10;

  private final OpenStreams streams;
  private final int mostIdle;

  /** The most recently used one is at the end. */
  private final List<Positioned> idle = new ArrayList<>();

  /**
   * @param streams opens and closes them
   * @param mostIdle how many idle streams stay open
   */
  public StreamPool(OpenStreams streams, int mostIdle) {
    this.streams = streams;
    this.mostIdle = mostIdle;
  }

  /** A stream and its position in the file. */
  private static final class Positioned {
    private final StreamStateHandle file;
    private final FSDataInputStream in;
    private final byte[] transfer = new byte[TRANSFER_BYTES];
    private long position;

    Positioned(StreamStateHandle file, FSDataInputStream in) {
      this.file = file;
      this.in = in;
    }

    void read(long offset, MemorySegment target) throws IOException {
      if (position != offset) {
        in.seek(offset);
        position = offset;
      }
      long done = 0;
      while (done < target.byteSize()) {
        int wanted = (int) Math.min(transfer.length, target.byteSize() - done);
        int read = in.read(transfer, 0, wanted);
        if (read < 0) {
          throw new IOException(
              "a file of a checkpoint ends too early: file="
                  + Blocks.nameOf(file)
                  + ", offset="
                  + position
                  + ", fileBytes="
                  + file.getStateSize());
        }
        MemorySegment.copy(transfer, 0, target, ValueLayout.JAVA_BYTE, done, read);
        position += read;
        done += read;
      }
    }
  }

  /**
   * Fills {@code target} with the bytes of a file from an offset on.
   *
   * @throws IOException if they cannot be read, or if the streams are closed
   */
  public void read(StreamStateHandle file, long offset, MemorySegment target) throws IOException {
    Positioned stream = take(file, offset);
    if (stream == null) {
      stream = new Positioned(file, streams.open(file::openInputStream));
    }
    boolean isRead = false;
    try {
      stream.read(offset, target);
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

  /** Closes all streams. Running reads fail. */
  @Override
  public void close() {
    streams.close();
    synchronized (this) {
      idle.clear();
    }
  }
}
