package io.fasterkv.device;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A write that failed since there is no space for it: a full file system ({@code ENOSPC}) or a used
 * up quota ({@code EDQUOT}). The one failure that may pass by itself: the bytes are where they
 * were, and the same write may be tried again. A device that tells so promises nothing about what
 * is at the address until a write there has succeeded.
 */
public final class NoSpaceException extends IOException {
  private static final long serialVersionUID = 1L;

  /** As the C library says it where it speaks English; the JVM has no number to tell. */
  private static final List<String> WORDS =
      List.of("No space left on device", "Disk quota exceeded");

  public NoSpaceException(IOException cause) {
    super(cause.getMessage(), cause);
  }

  /**
   * What a write has failed with, as this if that is what it was.
   *
   * @param directory in which the file is
   * @param bytes that were to be written
   */
  static IOException classify(IOException failure, Path directory, long bytes) {
    return isNamed(failure) || isFull(directory, bytes) ? new NoSpaceException(failure) : failure;
  }

  /** Whether a failure says that there is no space. */
  public static boolean isNamed(IOException failure) {
    String message = String.valueOf(failure.getMessage());
    return failure instanceof NoSpaceException || WORDS.stream().anyMatch(message::contains);
  }

  /** For a C library that speaks another language. */
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
