package io.fasterkv.stress;

import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OffHeapArena;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;

/** Lends objects in off-heap memory to states; the arbiter returns them. */
public final class Pool<T> {
  private static final OffHeapArena ARENA = new OffHeapArena(new MemoryBudget(Long.MAX_VALUE));

  private final Queue<T> free = new ConcurrentLinkedQueue<>();
  private final Function<OffHeapArena, T> factory;

  public Pool(Function<OffHeapArena, T> factory) {
    this.factory = factory;
  }

  public T take() {
    T kept = free.poll();
    return kept != null ? kept : factory.apply(ARENA);
  }

  public void give(T thing) {
    free.add(thing);
  }
}
