package io.fasterkv.log;

import io.fasterkv.record.Address;
import java.util.function.LongSupplier;

/**
 * What the log does for values that are written in pieces before their anchor is in its chain:
 * keeps compaction away from them and, without a device, sees to it that there is room to move them
 * later.
 */
public final class LargeWrites {
  private final boolean inMemory;
  private final MemoryRoom room;
  private final UnpublishedValues unpublished;
  private final LongSupplier tailAddress;

  LargeWrites(
      boolean inMemory, MemoryRoom room, UnpublishedValues unpublished, LongSupplier tailAddress) {
    this.inMemory = inMemory;
    this.room = room;
    this.unpublished = unpublished;
    this.tailAddress = tailAddress;
  }

  /** Refuses a large value that the log's memory could not hold and move. */
  public void check(int keyBytes, int valueBytes) {
    if (inMemory) {
      room.checkLarge(keyBytes, valueBytes);
    }
  }

  /**
   * Takes the turn to write the chunks of a value, and keeps the room to move it later; false if
   * another session has the turn, and the caller, unprotected, comes again. Ends with {@link
   * #endChunks}. With a device there are no turns.
   */
  public boolean tryBeginChunks(int keyBytes, int valueBytes) {
    return !inMemory || room.large().tryBegin(room.largePages(keyBytes, valueBytes));
  }

  /**
   * Ends {@link #tryBeginChunks}; the chunks begin at {@code oldest}, or at 0 if there are none.
   */
  public void endChunks(long oldest, int keyBytes, int valueBytes) {
    if (inMemory && oldest == Address.NONE) {
      room.large().giveUp();
    } else if (inMemory) {
      room.large().written(oldest, room.largePages(keyBytes, valueBytes), true);
    }
  }

  /** Notes that compaction has written the chunks of a value. */
  public void wroteChunks(long oldest, int keyBytes, int valueBytes) {
    if (inMemory) {
      room.large().written(oldest, room.largePages(keyBytes, valueBytes), false);
    }
  }

  /**
   * Tells that chunks are going to be allocated whose anchor is not in its chain yet: all from the
   * address that is returned on stays out of compaction's reach until {@link #endUnpublished}.
   */
  public long beginUnpublished() {
    return unpublished.add(tailAddress);
  }

  /** Ends {@link #beginUnpublished}: the anchor is in its chain, or never will be. */
  public void endUnpublished(long address) {
    unpublished.remove(address);
  }
}
