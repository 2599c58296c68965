package io.fasterkv.flink.snapshot;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.flink.util.IOUtils;

/**
 * Sorted records in a local file.
 *
 * <pre>
 *   | length of key: 4 | length of value, or -1: 4 | key | value |
 * </pre>
 */
final class SortFile {
  private static final int BUFFER_BYTES = 32 << 10;

  private final Path path;
  private final int level;
  private final Logger logger;

  private SortFile(Path path, int level, Logger logger) {
    this.path = path;
    this.level = level;
    this.logger = logger;
  }

  /** How often its records have been merged. */
  int level() {
    return level;
  }

  /** Writes records to a new file, and deletes the file if that fails. */
  static SortFile write(
      Path path, SortedRecords records, int level, Cancellation cancellation, Logger logger)
      throws IOException {
    SortFile written = new SortFile(path, level, logger);
    try (OutputStream file = Channels.newOutputStream(OwnerOnly.createFile(path));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(file, BUFFER_BYTES))) {
      while (records.next()) {
        cancellation.check();
        out.writeInt(records.keyLength());
        out.writeInt(records.valueLength());
        out.write(records.keyBytes(), records.keyStart(), records.keyLength());
        if (records.valueLength() > 0) {
          out.write(records.valueBytes(), records.valueStart(), records.valueLength());
        }
      }
    } catch (Throwable failure) {
      written.delete();
      throw failure;
    }
    return written;
  }

  SortedRecords read() throws IOException {
    InputStream file = Files.newInputStream(path);
    try {
      return new Records(new DataInputStream(new BufferedInputStream(file, BUFFER_BYTES)));
    } catch (Throwable failure) {
      IOUtils.closeQuietly(file);
      throw failure;
    }
  }

  /** Deletes the file; if that fails, the store deletes it with its directory. */
  void delete() {
    try {
      Files.deleteIfExists(path);
    } catch (IOException failure) {
      logger.log(
          Level.WARNING,
          "a sort file cannot be deleted now; its store deletes it when it closes: file=" + path,
          failure);
    }
  }

  private static final class Records implements SortedRecords {
    private final DataInputStream in;
    private byte[] bytes = new byte[512];
    private int keyLength;
    private int valueLength;

    Records(DataInputStream in) {
      this.in = in;
    }

    @Override
    public boolean next() throws IOException {
      try {
        keyLength = in.readInt();
      } catch (EOFException end) {
        return false;
      }
      valueLength = in.readInt();
      int length = keyLength + Math.max(0, valueLength);
      if (length > bytes.length) {
        bytes = Arrays.copyOf(bytes, Math.max(length, 2 * bytes.length));
      }
      in.readFully(bytes, 0, length);
      return true;
    }

    @Override
    public byte[] keyBytes() {
      return bytes;
    }

    @Override
    public int keyStart() {
      return 0;
    }

    @Override
    public int keyLength() {
      return keyLength;
    }

    @Override
    public byte[] valueBytes() {
      return bytes;
    }

    @Override
    public int valueStart() {
      return keyLength;
    }

    @Override
    public int valueLength() {
      return valueLength;
    }

    @Override
    public void close() {
      IOUtils.closeQuietly(in);
    }
  }
}
