package io.fasterkv.device;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A write failed because there is no space: the file system is full ({@code ENOSPC}) or a quota is
 * used up ({@code EDQUOT}). This is the only failure that may resolve itself: the caller still has
 * the bytes and may retry the write. After it, the content at the write's address is undefined
 * until a write there has succeeded.
 */
public final class NoSpaceException extends IOException {
  private static final long serialVersionUID = 1L;

  /** The C library's messages in English; the JVM does not expose the error number. */
  private static final List<String> WORDS =
      List.of("No space left on device", "Disk quota exceeded");

  /**
   * Wraps the exception of the failed write.
   *
   * @param cause the exception; its message is kept
   */
  public NoSpaceException(IOException cause) {
    super(cause.getMessage(), cause);
  }

  /**
   * Returns a failed write's exception, wrapped in a {@link NoSpaceException} if space was missing.
   *
   * @param failure the exception of the failed write
   * @param directory the file's directory
   * @param bytes how many bytes were to be written
   * @return the exception to report
   */
  public static IOException classify(IOException failure, Path directory, long bytes) {
    return isNamed(failure) || isFull(directory, bytes) ? new NoSpaceException(failure) : failure;
  }

  /**
   * Tells whether an exception says that there is no space.
   *
   * @param failure the exception
   * @return true if it does
   */
  public static boolean isNamed(IOException failure) {
    String message = String.valueOf(failure.getMessage());
    return failure instanceof NoSpaceException || WORDS.stream().anyMatch(message::contains);
  }

  /** For a C library with messages in another language. */
  private static boolean isFull(Path directory, long bytes) {
    if (!directory.getFileSystem().equals(FileSystems.getDefault())) {
      return false;
    }
    try {
      return Files.getFileStore(directory).getUsableSpace() < bytes;
    } catch (IOException unknown) {
      return false;
    }
  }
}
