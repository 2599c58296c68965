package io.fasterkv.sim;

import java.io.IOException;

/**
 * What a {@link SimulatedDisk} asks before it does anything. A method may throw, which fails the
 * request with nothing done, and may call the store: it runs on the thread of the request, with no
 * lock held.
 */
public interface DiskFaults {
  /** Everything works. */
  DiskFaults NONE = new DiskFaults() {};

  /** Before a write; returns how many of the bytes the disk takes, at least 1. */
  default int beforeWrite(String file, long position, int bytes) throws IOException {
    return bytes;
  }

  /** Before a read; returns how many bytes the disk delivers at most, at least 1. */
  default int beforeRead(String file, long position, int bytes) throws IOException {
    return bytes;
  }

  /** Before a file, or a directory by its name, is forced. */
  default void beforeForce(String file) throws IOException {}

  /** Before a file gets into a directory, by being created or moved. */
  default void beforeName(String file) throws IOException {}

  /** Before a file is removed. */
  default void beforeDelete(String file) throws IOException {}
}
