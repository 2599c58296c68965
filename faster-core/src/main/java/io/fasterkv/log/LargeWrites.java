package io.fasterkv.log;

import java.util.function.LongSupplier;

/**
 * Supports values that are written in pieces before their anchor is in its chain: keeps compaction
 * away from these pieces and, without a device, reserves room to move them later.
 */
public final class LargeWrites {
  private final LogRoom room;
  private final UnpublishedValues unpublished;
  private final LongSupplier tailAddress;

  LargeWrites(LogRoom room, LogParts parts) {
    this.room = room;
    unpublished = parts.unpublished();
    tailAddress = parts.tail()::address;
  }

  /** Throws if the log's memory cannot hold and move a large value. */
  public void check(int keyBytes, int valueBytes) {
    room.checkLarge(keyBytes, valueBytes);
  }

  /**
   * Starts writing the chunks of a value, and reserves room to move it later. Returns false if
   * another session is writing one; the caller must then retry, unprotected. {@link #endChunks}
   * ends it. With a device, this always succeeds.
   */
  public boolean tryBeginChunks(int keyBytes, int valueBytes) {
    return room.tryBeginChunks(keyBytes, valueBytes);
  }

  /**
   * Ends {@link #tryBeginChunks}. {@code oldest} is the address of the first chunk, or 0 if there
   * are none.
   */
  public void endChunks(long oldest, int keyBytes, int valueBytes) {
    room.endChunks(oldest, keyBytes, valueBytes);
  }

  /** Notes that compaction has written the chunks of a value. */
  public void wroteChunks(long oldest, int keyBytes, int valueBytes) {
    room.wroteChunks(oldest, keyBytes, valueBytes);
  }

  /** How many pages of a value compaction collects in scratch memory before it writes a chunk. */
  public int stagedPages() {
    return room.stagedPages();
  }

  /**
   * Announces chunks whose anchor is not in its chain yet. Compaction does not go past the returned
   * address until {@link #endUnpublished}.
   */
  public long beginUnpublished() {
    return unpublished.add(tailAddress);
  }

  /** Ends {@link #beginUnpublished}: the anchor is in its chain or never will be. */
  public void endUnpublished(long address) {
    unpublished.remove(address);
  }
}
