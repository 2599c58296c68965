package io.fasterkv.device.restore;

import io.fasterkv.device.ReadQueue;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The reads of a {@link LazyRestoreDevice}. Reads of local blocks go to the queue of the underlying
 * device; other blocks are fetched on the caller's thread.
 */
final class LazyRestoreQueue implements ReadQueue {

  private record Fetched(int tag, @Nullable IOException failure) {}

  private final LazyRestoreDevice device;
  private final ReadQueue below;
  private final Queue<Fetched> fetched = new ArrayDeque<>();
  private @Nullable IOException failure;

  LazyRestoreQueue(LazyRestoreDevice device, ReadQueue below) {
    this.device = device;
    this.below = below;
  }

  @Override
  public void read(int tag, long address, MemorySegment target) {
    if (device.isLocal(address, target.byteSize())) {
      below.read(tag, address, target);
    } else {
      fetched.add(new Fetched(tag, device.tryFetch(address, target)));
    }
  }

  @Override
  public int next(boolean wait) {
    Fetched first = fetched.poll();
    if (first != null) {
      failure = first.failure;
      return first.tag;
    }
    int tag = below.next(wait);
    failure = below.failure();
    return tag;
  }

  @Override
  public @Nullable IOException failure() {
    return failure;
  }

  @Override
  public void close() {
    below.close();
  }
}
