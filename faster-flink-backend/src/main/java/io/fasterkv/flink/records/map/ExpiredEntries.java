package io.fasterkv.flink.records.map;

import io.fasterkv.api.ByteSpan;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Removes expired entries from a map's block to make room, so that a map which keeps getting new
 * entries does not grow without limit where compaction does not reach it. For one thread at a time.
 */
final class ExpiredEntries {
  private final EntryCursor cursor = new EntryCursor();
  private @Nullable EntryLife life;
  private long now;
  private boolean isDated;

  /**
   * Starts an operation on a state's map.
   *
   * @param stateLife null if its entries do not expire
   */
  void begin(@Nullable EntryLife stateLife) {
    life = stateLife;
    isDated = false;
  }

  /** Bytes of the block's entries that have expired. */
  int bytesIn(ByteSpan block, int firstEntryAt) {
    EntryLife known = life;
    if (known == null) {
      return 0;
    }
    int expired = 0;
    cursor.on(block, firstEntryAt);
    while (cursor.next()) {
      expired += isAlive(known, block) ? 0 : cursor.length();
    }
    return expired;
  }

  /** Removes expired entries from the block. */
  void removeFrom(ByteSpan block, int firstEntryAt) {
    EntryLife known = life;
    if (known == null) {
      return;
    }
    cursor.on(block, firstEntryAt);
    while (cursor.next()) {
      if (!isAlive(known, block)) {
        cursor.remove();
      }
    }
  }

  /** Copies the block to {@code to} without expired entries. */
  void copyOthers(ByteSpan block, int firstEntryAt, ByteSpan to) {
    MemorySegment.copy(block.memory(), block.offset(), to.memory(), to.offset(), firstEntryAt);
    to.setLength(firstEntryAt);
    if (MapLayout.hasLanes(firstEntryAt)) {
      Lanes.makeEmpty(to);
    }
    EntryLife known = life;
    cursor.on(block, firstEntryAt);
    while (cursor.next()) {
      if (known == null || isAlive(known, block)) {
        cursor.copyTo(to, cursor.lane());
      }
    }
  }

  /** Uses the time of the operation's first check for all checks. */
  private boolean isAlive(EntryLife known, ByteSpan block) {
    if (!isDated) {
      isDated = true;
      now = known.now();
    }
    return known.isAlive(block, cursor, now);
  }
}
