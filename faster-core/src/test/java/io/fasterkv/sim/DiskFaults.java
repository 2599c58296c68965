package io.fasterkv.sim;

import java.io.IOException;

/**
 * Called by a {@link SimulatedDisk} before each of its steps. A method may throw, which fails the
 * request without effect, and may call the store: it runs on the thread of the request, with no
 * lock held.
 */
public interface DiskFaults {
  /** All requests succeed. */
  DiskFaults NONE = new DiskFaults() {};

  /** Called before a write; returns how many of the bytes the disk accepts, at least 1. */
  default int beforeWrite(String file, long position, int bytes) throws IOException {
    return bytes;
  }

  /** Called before a read; returns how many bytes the disk delivers at most, at least 1. */
  default int beforeRead(String file, long position, int bytes) throws IOException {
    return bytes;
  }

  /** Called before a file, or a directory by its name, is forced. */
  default void beforeForce(String file) throws IOException {}

  /** Called before a file enters a directory, by being created or moved. */
  default void beforeName(String file) throws IOException {}

  /** Called before a file is removed. */
  default void beforeDelete(String file) throws IOException {}
}
