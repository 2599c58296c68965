package io.fasterkv.operation.resize;

import io.fasterkv.api.statistics.RegionHits;
import io.fasterkv.operation.core.Engine;
import java.lang.System.Logger.Level;
import java.util.function.BooleanSupplier;

/**
 * Memory of the log for an index that is nearly full: half of what the log has, or as much as the
 * index can use if that is less, as often as the settings allow. Without room in the index, records
 * share entries, and a lookup then reads other keys' records from disk. The memory is then worth
 * more in the index, unless most lookups are answered from the log's memory; in that case the log
 * keeps it (decision 0047). One thread at a time.
 */
public final class LogLoans {
  private static final long ENOUGH = 1000;

  /** The least time that an answer is about. */
  private static final long LEAST_NANOS = 100_000_000;

  private final Engine engine;
  private int left;
  private Uses before;
  private long beforeNanos;

  /** Creates loans that halve the log {@code most} times at most. */
  public LogLoans(Engine engine, int most) {
    this.engine = engine;
    left = most;
    before = usesBefore();
    beforeNanos = System.nanoTime();
  }

  /** Whether the log may lend memory. */
  boolean areLeft() {
    return left > 0 && engine.log().quota().canHalve() && engine.index().takeableBytes() > 0;
  }

  /**
   * Whether the memory is now worth more in the index. The caller asks again from time to time; an
   * answer is about the time since the last one, and false while that is too short.
   */
  boolean areWorthIt() {
    if (System.nanoTime() - beforeNanos < LEAST_NANOS) {
      return false;
    }
    Uses since = usesSince(before);
    if (since.areTold() && since.areOfTheLog()) {
      beginAnew();
    }
    return since.areTold() && !since.areOfTheLog();
  }

  private void beginAnew() {
    before = usesBefore();
    beforeNanos = System.nanoTime();
  }

  /**
   * Makes the log release memory, which stays taken in the log's arena; returns the number of
   * bytes.
   *
   * @param most how much the index can use
   */
  long take(long most, BooleanSupplier goesOn) {
    long bytes =
        engine
            .log()
            .quota()
            // A failed log no longer moves, and the index then takes nothing.
            .halve(most, () -> goesOn.getAsBoolean() && !engine.log().failure().isSet());
    left = bytes > 0 ? left - 1 : 0;
    beginAnew();
    if (bytes > 0) {
      String line = "the index was nearly full and received memory from the log: bytes=" + bytes;
      engine.log().failure().logger().log(Level.INFO, line);
    }
    return bytes;
  }

  /**
   * Hits first, and in {@link #usesSince} last: the hits are then those of a time that covers the
   * entries' time, however long this thread waits for a processor between the two.
   */
  private Uses usesBefore() {
    RegionHits hits = hits();
    return Uses.of(hits, entries());
  }

  private Uses usesSince(Uses start) {
    long entries = entries();
    return Uses.of(hits(), entries).since(start);
  }

  private RegionHits hits() {
    return engine.sessionCounters().regionHits();
  }

  private long entries() {
    return engine.index().entries();
  }

  /** How often operations have found a key in memory and on disk, and how many entries are new. */
  private record Uses(long inMemory, long onDisk, long entries) {
    static Uses of(RegionHits hits, long entries) {
      return new Uses(hits.mutable() + hits.readOnly(), hits.disk(), entries);
    }

    Uses since(Uses before) {
      return new Uses(inMemory - before.inMemory, onDisk - before.onDisk, entries - before.entries);
    }

    private long hits() {
      return inMemory + onDisk;
    }

    /** Whether there are enough of them to decide. */
    boolean areTold() {
      return hits() >= ENOUGH || entries >= ENOUGH;
    }

    /**
     * Whether most lookups are answered from the log's memory; there are none while state is being
     * loaded.
     */
    boolean areOfTheLog() {
      return hits() >= ENOUGH && inMemory > onDisk;
    }
  }
}
