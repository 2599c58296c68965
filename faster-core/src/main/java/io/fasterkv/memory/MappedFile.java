package io.fasterkv.memory;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import org.jspecify.annotations.Nullable;

/**
 * Maps a part of a file for random reads by any thread. A read of a closed file throws {@link
 * IllegalStateException}.
 */
public final class MappedFile implements AutoCloseable {
  private final Arena arena;
  private final MemorySegment memory;

  private MappedFile(Arena arena, MemorySegment memory) {
    this.arena = arena;
    this.memory = memory;
  }

  /** Maps a part of a file; returns null if the kernel cannot be told not to read ahead. */
  public static @Nullable MappedFile map(
      FileChannel file, long offset, long bytes, SystemCalls system) throws IOException {
    MappedFile mapped = null;
    Arena arena = Arena.ofShared();
    try {
      MemorySegment memory = file.map(MapMode.READ_ONLY, offset, bytes, arena);
      mapped = system.adviseRandom(memory) ? new MappedFile(arena, memory) : null;
      return mapped;
    } finally {
      if (mapped == null) {
        arena.close();
      }
    }
  }

  /** The file's bytes, read-only, until this is closed. */
  public MemorySegment memory() {
    return memory;
  }

  /** Unmaps the file. */
  @Override
  public void close() {
    arena.close();
  }
}
