package io.fasterkv.flink.snapshot;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;

/**
 * Reads and writes blocks of bytes in checkpoint files, each with its length before it and its
 * checksum after it.
 */
public final class Blocks {
  private static final int BUFFER_BYTES = 1 << 16;

  /** Bytes of a block besides its content. */
  static final int OVERHEAD_BYTES = 2 * Integer.BYTES;

  private Blocks() {}

  static void write(OutputStream out, byte[] bytes, int length) throws IOException {
    DataOutputStream data = new DataOutputStream(out);
    data.writeInt(length);
    data.write(bytes, 0, length);
    data.writeInt(crc(bytes, length));
    data.flush();
  }

  /**
   * Returns the next block of bytes that were read, and moves their position past it.
   *
   * @param place of the first byte, for an error message
   * @throws IOException if the block is damaged
   */
  static byte[] take(ByteBuffer bytes, String place) throws IOException {
    int length = bytes.remaining() < OVERHEAD_BYTES ? -1 : bytes.getInt();
    if (length < 0 || length > bytes.remaining() - Integer.BYTES) {
      throw new IOException(
          "a block of a checkpoint has an impossible length: " + place + ", length=" + length);
    }
    byte[] block = new byte[length];
    bytes.get(block);
    if (crc(block, length) != bytes.getInt()) {
      throw new IOException("a block of a checkpoint is not what was written: " + place);
    }
    return block;
  }

  /** Reads a checkpoint file from its begin to its end. For one thread. */
  public static final class In implements AutoCloseable {
    private final OpenStreams streams;
    private final FSDataInputStream stream;
    private final DataInputStream data;
    private final String name;
    private final long bytes;
    private long position;

    /** Opens a file. */
    public In(StreamStateHandle handle, OpenStreams streams) throws IOException {
      this.streams = streams;
      name = nameOf(handle);
      bytes = handle.getStateSize();
      stream = streams.open(handle::openInputStream);
      data = new DataInputStream(new BufferedInputStream(stream, BUFFER_BYTES));
    }

    /** Whether everything was read. */
    public boolean isAtEnd() {
      return position >= bytes;
    }

    /** Names the file and the position of the next byte, for an error message. */
    public String place() {
      return "file=" + name + ", offset=" + position;
    }

    /**
     * Reads the next block.
     *
     * @throws IOException if the block is damaged
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
            "a block of a checkpoint has an impossible length: "
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

    private void read(byte[] into, int length) throws IOException {
      String place = place();
      try {
        data.readFully(into, 0, length);
      } catch (EOFException end) {
        throw tooShort(place);
      }
      position += length;
    }

    private IOException tooShort(String place) {
      return new IOException(
          "a file of a checkpoint ends too early: " + place + ", fileBytes=" + bytes);
    }

    @Override
    public void close() {
      streams.close(stream);
    }
  }

  /** The name of a file in an error message. */
  static String nameOf(StreamStateHandle handle) {
    if (handle instanceof FileStateHandle file) {
      return file.getFilePath().toString();
    }
    return handle.getStreamStateHandleID().getKeyString();
  }

  static int crc(byte[] bytes, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, length);
    return (int) crc.getValue();
  }
}
