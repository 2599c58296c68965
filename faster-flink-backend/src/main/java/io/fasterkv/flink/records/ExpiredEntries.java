package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Makes room in a map's block where entries have expired, so that a map which always gets new
 * entries does not grow for ever although compaction never comes by. For one thread at a time.
 */
final class ExpiredEntries {
  private final EntryCursor cursor = new EntryCursor();
  private @Nullable EntryLife life;
  private long now;
  private boolean isDated;
  private int entries;
  private int bytes;

  /**
   * An operation begins on a state's map.
   *
   * @param stateLife null if its entries do not expire
   */
  void begin(@Nullable EntryLife stateLife) {
    life = stateLife;
    isDated = false;
    forget();
  }

  /** An attempt begins: nothing has been left out. */
  void forget() {
    entries = 0;
    bytes = 0;
  }

  /** How many entries were left out. */
  int entries() {
    return entries;
  }

  /** Bytes of the entries that were left out. */
  int bytes() {
    return bytes;
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

  /** Removes them. */
  void removeFrom(ByteSpan block, int firstEntryAt) {
    EntryLife known = life;
    if (known == null) {
      return;
    }
    cursor.on(block, firstEntryAt);
    while (cursor.next()) {
      if (!isAlive(known, block)) {
        leftOut();
        cursor.remove();
      }
    }
  }

  /** Makes {@code to} the block without them. */
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
      } else {
        leftOut();
      }
    }
  }

  /** By the moment in which the operation asked first. */
  private boolean isAlive(EntryLife known, ByteSpan block) {
    if (!isDated) {
      isDated = true;
      now = known.now();
    }
    return known.isAlive(block, cursor, now);
  }

  private void leftOut() {
    entries++;
    bytes += cursor.length();
  }
}
