package io.fasterkv.bench.job;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file of longs that several processes of this machine have mapped: each sees what the others
 * write, in the order of their releases, as threads of one process do. The mapping lasts until no
 * object refers to it, so a task that ends late still writes to memory.
 */
final class MeterFile {
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  private final MemorySegment memory;

  private MeterFile(MemorySegment memory) {
    this.memory = memory;
  }

  /** Creates a file of zeros. */
  static MeterFile create(Path file, long bytes) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      return map(channel, bytes);
    }
  }

  /** Opens a file that exists. */
  static MeterFile open(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return map(channel, channel.size());
    }
  }

  private static MeterFile map(FileChannel channel, long bytes) throws IOException {
    return new MeterFile(channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, Arena.ofAuto()));
  }

  long loadAcquire(long offset) {
    return (long) LONG.getAcquire(memory, offset);
  }

  void storeRelease(long offset, long value) {
    LONG.setRelease(memory, offset, value);
  }

  /** Adds one; called by the only writer of the long. */
  void increment(long offset) {
    LONG.setRelease(memory, offset, (long) LONG.get(memory, offset) + 1);
  }

  boolean compareAndSet(long offset, long expected, long value) {
    return LONG.compareAndSet(memory, offset, expected, value);
  }

  /** Adds one for any of several writers, and returns the value before. */
  long getAndIncrement(long offset) {
    return (long) LONG.getAndAdd(memory, offset, 1L);
  }
}
