package io.fasterkv.flink.memory;

import io.fasterkv.flink.config.FasterOptions;
import io.fasterkv.flink.config.FasterSettings;
import io.fasterkv.spi.MemoryHolder;
import java.io.IOException;
import java.lang.System.Logger;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.memory.MemoryManager;
import org.apache.flink.runtime.memory.OpaqueMemoryResource;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;

/**
 * One store's right to a number of off-heap bytes. Closing gives them back, once; the store must be
 * closed first. Safe for use by all threads.
 */
public final class MemoryLease implements AutoCloseable {
  private static final String POOL = "state-faster-managed-memory";
  private static final String FIXED_POOL = "state-faster-fixed-memory";

  private final long bytes;
  private final long mostBytes;
  private final SlotLeases.@Nullable Lease lease;
  private final @Nullable SlotMemory slot;
  private final AutoCloseable release;
  private final AtomicBoolean closed = new AtomicBoolean();

  private MemoryLease(
      long bytes,
      long mostBytes,
      SlotLeases.@Nullable Lease lease,
      @Nullable SlotMemory slot,
      AutoCloseable release) {
    this.bytes = bytes;
    this.mostBytes = mostBytes;
    this.lease = lease;
    this.slot = slot;
    this.release = release;
  }

  /**
   * Leases memory for one store: a share of the slot's managed memory or of the slot's fixed
   * memory, or the configured fixed size. Fixed memory is part of the task off-heap memory.
   *
   * @param name names the store in messages
   * @param fraction the part of the slot's managed memory that Flink assigned to state backends
   * @throws IOException if there is too little; the message names the option to change
   */
  public static MemoryLease acquire(
      Environment env, String name, double fraction, FasterSettings settings) throws IOException {
    Configuration taskManager = env.getTaskManagerInfo().getConfiguration();
    if (settings.fixedMemoryBytes() > 0) {
      return fixed(settings.fixedMemoryBytes(), taskManager);
    }
    MemoryManager manager = env.getMemoryManager();
    return settings.fixedSlotBytes() > 0
        ? acquire(fixedPool(manager, settings, taskManager), name, settings)
        : acquire(manager, name, fraction, settings);
  }

  private static MemoryLease fixed(long bytes, ReadableConfig taskManager) throws IOException {
    FixedMemory.OF_THE_PROCESS.reserve(bytes, FasterOptions.FIXED_MEMORY, taskManager);
    return new MemoryLease(
        bytes, bytes, null, null, () -> FixedMemory.OF_THE_PROCESS.release(bytes));
  }

  static MemoryLease acquire(
      MemoryManager manager, String name, double fraction, FasterSettings settings)
      throws IOException {
    return acquire(pool(manager, fraction, opening(settings)), name, settings);
  }

  private static MemoryLease acquire(
      OpaqueMemoryResource<SlotMemory> pool, String name, FasterSettings settings)
      throws IOException {
    try {
      SlotMemory memory = pool.getResourceHandle();
      SlotLeases.Lease granted = memory.lease(name, settings.minimumMemoryBytes());
      return new MemoryLease(
          granted.bytes(),
          memory.bytes(),
          granted,
          memory,
          () -> {
            granted.end();
            pool.close();
          });
    } catch (IOException | RuntimeException | Error tooLittle) {
      IOUtils.closeQuietly(pool);
      throw tooLittle;
    }
  }

  /** The first store of a slot reserves the pool in task off-heap memory; the last one ends it. */
  private static OpaqueMemoryResource<SlotMemory> fixedPool(
      MemoryManager manager, FasterSettings settings, ReadableConfig taskManager)
      throws IOException {
    long wanted = settings.fixedSlotBytes();
    try {
      return manager.getExternalSharedMemoryResource(
          FIXED_POOL,
          bytes -> {
            FixedMemory.OF_THE_PROCESS.reserve(bytes, FasterOptions.FIXED_SLOT_MEMORY, taskManager);
            return new SlotMemory(
                bytes,
                FasterOptions.FIXED_SLOT_MEMORY,
                opening(settings),
                () -> FixedMemory.OF_THE_PROCESS.release(bytes));
          },
          wanted);
    } catch (IOException refused) {
      throw refused;
    } catch (Exception e) {
      throw new IOException("the memory of the slot cannot be shared: bytes=" + wanted, e);
    }
  }

  private static OpeningPart opening(FasterSettings settings) {
    return NativeAccess.isGranted()
        ? OpeningPart.ofUnused()
        : OpeningPart.ofPool(settings.operators());
  }

  private static OpaqueMemoryResource<SlotMemory> pool(
      MemoryManager manager, double fraction, OpeningPart opening) throws IOException {
    try {
      return manager.getSharedMemoryResourceForManagedMemory(
          POOL,
          bytes -> new SlotMemory(bytes, TaskManagerOptions.MANAGED_MEMORY_SIZE, opening, () -> {}),
          fraction);
    } catch (Exception refused) {
      throw new IOException(
          "the slot has no managed memory for state: managedBytes="
              + manager.getMemorySize()
              + ", fraction of it for state="
              + fraction
              + "; set "
              + TaskManagerOptions.MANAGED_MEMORY_SIZE.key()
              + " or "
              + TaskManagerOptions.MANAGED_MEMORY_FRACTION.key()
              + " above 0, and give STATE_BACKEND a weight in "
              + TaskManagerOptions.MANAGED_MEMORY_CONSUMER_WEIGHTS.key()
              + ", or set "
              + FasterOptions.FIXED_SLOT_MEMORY.key(),
          refused);
    }
  }

  /**
   * From now on the store may be asked to release memory, so that another store of the slot can
   * open or has more, and may be offered more. Starts the slot's balancing unless it was started.
   *
   * @param logger receives the failure of balancing
   */
  public void heldBy(MemoryHolder store, Logger logger) {
    if (lease != null && slot != null) {
      lease.heldBy(store);
      slot.balanceAlways(logger);
    }
  }

  /** Number of bytes that a store may use when it opens. */
  public long bytes() {
    return bytes;
  }

  /** Number of bytes that the store may be offered in all. */
  public long mostBytes() {
    return mostBytes;
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      IOUtils.closeQuietly(release);
    }
  }
}
