package io.fasterkv.compaction;

import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.core.Engine;
import org.jspecify.annotations.Nullable;

/**
 * Finds the live records of a piece of the log, in one of two ways, and has them moved.
 *
 * <p><b>Along the chain</b>: each record is looked up from the index on. If chains are short, that
 * takes no disk access for a live record, and one for a dead one.
 *
 * <p><b>In sequence</b>: the keys of as many records as fit a {@link KeyTable} are collected, and
 * then all of the log above them is read once, up to the safe read-only address: below it, no
 * record enters a chain any more and none is abandoned. Of two records of a key that are in a
 * chain, the one with the higher address is the newer. So there are three cases.
 *
 * <ul>
 *   <li>There is a tombstone or a newer record of the key that is not a delta: the record is dead,
 *       even if it is a delta. A value extends down to the first record that is not a delta, and no
 *       further. (A record that replaces a value and its deltas was put above all of them and
 *       includes them.)
 *   <li>There is no newer record of the key, and this is not a delta: it is the newest of its key
 *       in that part. It is moved if its chain has nothing newer above the part that was read,
 *       which a look into memory tells: whenever the head passes that part, more of the log is
 *       read. So a record costs no disk access of its own, however long its chain is. If the newer
 *       record is a delta, the whole value is moved.
 *   <li>There are only newer deltas, or this is one: the record is a part of a value, unless
 *       something above the part that was read has replaced it. It is looked up along the chain:
 *       the value that the key's newest records form is moved as a whole if it extends down to this
 *       record. The key's other records are then dead, which a look into memory tells.
 * </ul>
 *
 * The scan omits tombstones that may have been cut off their chains; they say nothing about what is
 * in a chain now.
 *
 * <p>The cheaper way is chosen by measurement: samples of each piece are looked up along the chain,
 * each for long enough that a thread which was not scheduled in between does not distort the
 * result. The time to merge values does not count, since both ways need it.
 */
final class LogCompaction implements AutoCloseable {
  /** Moves a record, unless there is a newer record of its key at or above {@code newerFrom}. */
  interface Moves {
    void move(ScanCursor scan, Movers movers, long newerFrom);
  }

  private static final long STOPPED = -1;
  private static final int SAMPLE = 64;

  private final Engine engine;
  private final HybridLog log;
  private final Pace pace;
  private final Moves moves;
  private final CompactionCosts costs;
  private final long begin;
  private final long end;
  private final Movers movers;
  private @Nullable KeyTable table;
  private boolean isTableWanted = true;

  /** All records between the table's piece and this address have been seen. */
  private long sweptUntil;

  private long paidUntil;
  private int sampled;
  private int nextLook;
  private long sampledBytes;
  private long sampledKeyBytes;
  private long sampledNanos;

  /** Time spent on merging values since the sample began. */
  private long foldNanos;

  LogCompaction(Engine engine, ScanRange piece, Pace pace, Moves moves, CompactionCosts costs) {
    this.engine = engine;
    log = engine.log();
    begin = piece.begin();
    end = piece.end();
    this.pace = pace;
    this.moves = moves;
    this.costs = costs;
    movers = new Movers(engine);
  }

  /** Processes the whole piece; returns false if the pace has ended it. */
  boolean run() {
    long at = begin;
    while (at != STOPPED && at < end) {
      at = isSequenceCheaper(at) ? inSequence(at) : alongChains(at);
    }
    return at != STOPPED;
  }

  @Override
  public void close() {
    movers.close();
    if (table != null) {
      table.close();
    }
  }

  /** Looks up records from {@code from} on; returns where to continue in the other way. */
  private long alongChains(long from) {
    paidUntil = from;
    beginSample();
    long start = System.nanoTime();
    try (ScanCursor scan = engine.scan(ScanRange.part(begin, end, from, end)).withFirstChunks()) {
      while (scan.next()) {
        if (sampled >= nextLook) {
          nextLook = sampled + SAMPLE;
          sampledNanos = System.nanoTime() - start - foldNanos;
          if (costs.isEnough(sampledNanos, log.safeReadOnlyAddress() - scan.address())) {
            if (isSequenceCheaper(scan.address())) {
              return scan.address();
            }
            beginSample();
            start = System.nanoTime();
          }
        }
        if (!pays(scan.address())) {
          return STOPPED;
        }
        if (Movers.mayMove(scan)) {
          movers.prefetch(scan);
          lookUp(scan);
          sample(scan);
        }
      }
    }
    return end;
  }

  private void beginSample() {
    sampled = 0;
    nextLook = SAMPLE;
    sampledBytes = 0;
    sampledKeyBytes = 0;
    foldNanos = 0;
  }

  private void lookUp(ScanCursor scan) {
    long start = engine.merge() == null ? 0 : System.nanoTime();
    moves.move(scan, movers, scan.address() + 1);
    if (movers.isFold()) {
      foldNanos += System.nanoTime() - start;
    }
  }

  private void sample(ScanCursor scan) {
    if (!scan.isChunk()) {
      sampled++;
      sampledKeyBytes += scan.key().length();
      sampledBytes += engine.layout().recordBytes(scan.key().length(), scan.value().length());
    }
  }

  private boolean isSequenceCheaper(long at) {
    if (!costs.isEverInSequence() || (sampled < SAMPLE && costs.isEverAlongChains())) {
      return false;
    }
    KeyTable keys = table();
    if (keys == null || !costs.isEverAlongChains()) {
      return keys != null;
    }
    double recordBytes = (double) sampledBytes / sampled;
    double fitting = keys.capacity(sampledKeyBytes / sampled);
    double records = Math.min(fitting, (end - at) / recordBytes);
    // The piece is read twice.
    double bytes = log.safeReadOnlyAddress() - at + records * recordBytes;
    return costs.isSequenceCheaper(bytes, records * sampledNanos / sampled);
  }

  private @Nullable KeyTable table() {
    if (isTableWanted) {
      isTableWanted = false;
      // Leave room for a scan of the piece, one of the log above it, and one of another thread.
      table = KeyTable.tryTake(engine.buffers(), 3 * log.pageBytes());
    }
    return table;
  }

  /** Moves the live ones of as many records from {@code from} on as fit the table. */
  private long inSequence(long from) {
    KeyTable keys = table();
    if (keys == null) {
      return alongChains(from);
    }
    try {
      return inSequence(keys, from);
    } catch (OutOfBudget e) {
      // Others are using the scratch memory for scans; following chains needs less.
      keys.close();
      table = null;
      return alongChains(from);
    }
  }

  private long inSequence(KeyTable keys, long from) {
    long until = collect(keys, from);
    if (until == STOPPED || !sweep(keys)) {
      return STOPPED;
    }
    try (ScanCursor scan = engine.scan(ScanRange.part(begin, end, from, until)).withFirstChunks()) {
      while (scan.next()) {
        if (log.headAddress() > sweptUntil && !sweep(keys)) {
          return STOPPED;
        }
        if (Movers.mayMove(scan)) {
          move(keys, scan);
        }
      }
    }
    return until;
  }

  private void move(KeyTable keys, ScanCursor scan) {
    KeyTable.State state =
        scan.isChunk() ? KeyTable.State.UNKNOWN : keys.state(scan.key(), scan.address());
    switch (state) {
      case NEWEST -> moves.move(scan, movers, sweptUntil);
      case UNKNOWN -> moves.move(scan, movers, scan.address() + 1);
      case DEAD -> {}
    }
  }

  private long collect(KeyTable keys, long from) {
    keys.clear();
    paidUntil = from;
    try (ScanCursor scan = engine.scan(ScanRange.part(begin, end, from, end))) {
      while (scan.next()) {
        if (!pays(scan.address())) {
          return STOPPED;
        }
        if (!note(keys, scan) && keys.keys() > 0) {
          sweptUntil = scan.address();
          return sweptUntil;
        }
      }
    }
    sweptUntil = end;
    return end;
  }

  private static boolean note(KeyTable keys, ScanCursor scan) {
    if (!Movers.mayMove(scan)) {
      keys.kill(scan.key(), scan.address());
      return true;
    }
    return scan.isDelta() ? keys.putDelta(scan.key()) : keys.put(scan.key(), scan.address());
  }

  /**
   * Marks the keys of all records that have been added above the piece; deltas do not kill a key.
   */
  private boolean sweep(KeyTable keys) {
    long until = log.safeReadOnlyAddress();
    if (keys.open() == 0 || until <= sweptUntil) {
      return true;
    }
    paidUntil = sweptUntil;
    long start = System.nanoTime();
    long sweptBytes = 0;
    try (ScanCursor scan = engine.scan(ScanRange.part(begin, until, sweptUntil, until))) {
      while (keys.open() > 0 && scan.next()) {
        if (!pays(scan.address())) {
          return false;
        }
        if (scan.isDelta()) {
          keys.cover(scan.key());
        } else {
          keys.kill(scan.key(), scan.address());
        }
        sweptBytes = log.pageEnd(scan.address()) - sweptUntil;
      }
    }
    if (sweptBytes >= log.pageBytes()) {
      costs.swept(sweptBytes, System.nanoTime() - start);
    }
    sweptUntil = until;
    return true;
  }

  /** Waits until the pace allows the page of an address; returns false if compaction must end. */
  private boolean pays(long address) {
    if (address < paidUntil) {
      return true;
    }
    long until = log.pageEnd(address);
    boolean isAllowed = pace.allows(until - paidUntil);
    paidUntil = until;
    return isAllowed;
  }
}
