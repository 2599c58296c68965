package io.fasterkv.flink.snapshot;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;

/**
 * Blocks of bytes in the files of a checkpoint, each with its length before and its checksum after
 * it.
 */
public final class Blocks {
  private static final int BUFFER_BYTES = 1 << 16;
  private static final int OVERHEAD_BYTES = 2 * Integer.BYTES;

  private Blocks() {}

  static void write(OutputStream out, byte[] bytes, int length) throws IOException {
    DataOutputStream data = new DataOutputStream(out);
    data.writeInt(length);
    data.write(bytes, 0, length);
    data.writeInt(crc(bytes, length));
    data.flush();
  }

  /** A file of a checkpoint that is read from its begin to its end. For one thread. */
  public static final class In implements AutoCloseable {
    private final DataInputStream data;
    private final String name;
    private final long bytes;
    private long position;

    /** Opens a file. */
    public In(StreamStateHandle handle) throws IOException {
      this(handle, 0);
    }

    /** Opens a file to read from an offset on. */
    In(StreamStateHandle handle, long offset) throws IOException {
      name = nameOf(handle);
      bytes = handle.getStateSize();
      position = offset;
      FSDataInputStream stream = handle.openInputStream();
      if (offset > 0) {
        stream.seek(offset);
      }
      data = new DataInputStream(new BufferedInputStream(stream, BUFFER_BYTES));
    }

    /** Where the next byte lies. */
    long position() {
      return position;
    }

    /** Whether all was read. */
    public boolean isAtEnd() {
      return position >= bytes;
    }

    /** Names the file and where the next byte lies, for an error message. */
    public String place() {
      return "file=" + name + ", offset=" + position;
    }

    /**
     * The next block.
     *
     * @throws IOException if it is not what was written
     */
    public byte[] block() throws IOException {
      String place = place();
      if (bytes - position < OVERHEAD_BYTES) {
        throw tooShort(place);
      }
      int length = data.readInt();
      position += Integer.BYTES;
      if (length < 0 || length > bytes - position - Integer.BYTES) {
        throw new IOException(
            "a block of a checkpoint has a length that its file has no room for: "
                + place
                + ", length="
                + length
                + ", fileBytes="
                + bytes);
      }
      byte[] block = new byte[length];
      read(block, length);
      int crc = crc(block, length);
      byte[] expected = new byte[Integer.BYTES];
      read(expected, Integer.BYTES);
      if (crc != ByteBuffer.wrap(expected).getInt()) {
        throw new IOException("a block of a checkpoint is not what was written: " + place);
      }
      return block;
    }

    /** Reads bytes that are in no block. */
    public void read(byte[] into, int length) throws IOException {
      String place = place();
      try {
        data.readFully(into, 0, length);
      } catch (EOFException end) {
        throw tooShort(place);
      }
      position += length;
    }

    /** Fills a segment with bytes that are in no block, by way of an array of its size or more. */
    void read(MemorySegment into, byte[] by) throws IOException {
      int length = Math.toIntExact(into.byteSize());
      read(by, length);
      into.copyFrom(MemorySegment.ofArray(by).asSlice(0, length));
    }

    private IOException tooShort(String place) {
      return new IOException(
          "a file of a checkpoint ends too early: " + place + ", fileBytes=" + bytes);
    }

    @Override
    public void close() throws IOException {
      data.close();
    }
  }

  /** What to call a file in an error message. */
  static String nameOf(StreamStateHandle handle) {
    if (handle instanceof FileStateHandle file) {
      return file.getFilePath().toString();
    }
    return handle.getStreamStateHandleID().getKeyString();
  }

  private static int crc(byte[] bytes, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, length);
    return (int) crc.getValue();
  }
}
