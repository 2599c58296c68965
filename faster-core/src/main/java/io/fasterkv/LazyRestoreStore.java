package io.fasterkv;

import io.fasterkv.device.restore.LazyRestoreDevice;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.BufferPool;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A store as its device sees it, while the log is still at its origin.
 *
 * @param scratch the store's scratch memory
 * @param log the store's log
 */
record LazyRestoreStore(BufferPool scratch, HybridLog log) implements LazyRestoreDevice.Store {
  @Override
  public long scratchBytes() {
    return scratch.bytes();
  }

  @Override
  public MemorySegment take(int bytes) {
    return scratch.take(bytes);
  }

  @Override
  public @Nullable MemorySegment tryTake(int bytes) {
    return scratch.tryTake(bytes);
  }

  @Override
  public void give(MemorySegment buffer) {
    scratch.give(buffer);
  }

  @Override
  public int heat(long address) {
    return log.heat().heat(address);
  }

  @Override
  public void failed(Throwable cause) {
    log.failure().accept(cause);
  }
}
