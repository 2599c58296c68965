package io.fasterkv.stress.broken;

import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import io.fasterkv.stress.WrittenPages;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;

/** Broken frames: a thread that needs a frame clears it although another may be clearing it. */
public final class FrameClearedTwice extends WrittenPages {
  private static final int FRAMES = 8;

  private final MemorySegment memory;
  private final AtomicLong closed = new AtomicLong();

  public FrameClearedTwice(OffHeapArena arena) {
    memory = arena.allocate("frames", (long) FRAMES * PAGE_BYTES, Long.BYTES);
  }

  public FrameClearedTwice reset() {
    forget();
    return this;
  }

  public void fill(int actor) {
    for (int number = 0; number < EACH; number++) {
      long page = closed.get();
      memory.asSlice(offset(page), PAGE_BYTES).fill((byte) 0);
      if (closed.compareAndSet(page, page + PAGE_BYTES)) {
        Words.storePlain(memory, offset(page) + PAGE_BYTES - Long.BYTES, page);
        written(actor, number, page);
      }
    }
  }

  @Override
  protected boolean holds(long address) {
    return Words.loadPlain(memory, offset(address) + PAGE_BYTES - Long.BYTES) == address;
  }

  private static long offset(long address) {
    return address % ((long) FRAMES * PAGE_BYTES);
  }
}
