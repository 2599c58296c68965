package io.fasterkv.operation.core;

import io.fasterkv.device.ReadQueue;
import io.fasterkv.record.Address;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Where an operation's search on disk is, and the read that continues it. */
public final class DiskRead {
  /** The next record to examine, or the one that was found. */
  public long address = Address.NONE;

  /** The search ends below this address. */
  public long floor = Address.NONE;

  /** Start of the next read, at or below that record. */
  public long from;

  /** Length of the next read. */
  public int bytes;

  /** Whether the caller's thread reads, rather than a queue. */
  public boolean isNow;

  /** Tag of the read in its session's queue while the operation is pending. */
  public int tag = ReadQueue.NONE;

  /** Why the last read failed; null if it did not. */
  public @Nullable IOException failure;

  DiskRead() {}
}
