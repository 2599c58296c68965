package io.fasterkv.compaction;

import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.Engine;
import org.jspecify.annotations.Nullable;

/**
 * Finds what is live in a piece of the log, in one of two ways, and has it moved.
 *
 * <p><b>Along the chain</b>: each record is looked up from the index on. Where chains are short
 * that takes no disk access for a live record, and one for a dead one.
 *
 * <p><b>In sequence</b>: the keys of as many records as fit a {@link KeyTable} are noted, and then
 * all of the log above them is read once, up to the safe read-only address: below that, no record
 * gets into a chain any more and none is given up. Of two records of a key that are in a chain, the
 * one with the higher address is the newer. So there are three fates.
 *
 * <ul>
 *   <li>A newer record of the key, or a tombstone, came by that is no delta: dead, a delta too. A
 *       value reaches down to the first record that is no delta, and no further. (What stands for a
 *       value with its deltas was put on top of all of them, and has them in it.)
 *   <li>No record of the key came by, and this is no delta: the newest of its key there. It is
 *       moved if its chain has nothing newer above the part that was read, which memory tells:
 *       whenever the head passes that part, the log is read on. So a record costs no disk access of
 *       its own, however long its chain is. If what is newer is a delta, the whole value is moved.
 *   <li>Only deltas came by, or this is one: the record is a part of a value, unless something
 *       above what was read has taken its place. It goes along the chain: what the key's newest
 *       records make together is moved as a whole if it reaches down to here. Then the key's other
 *       records are dead, which a look into memory tells.
 * </ul>
 *
 * The scan leaves out the tombstones that may have been cut off their chains; they say nothing of
 * what is in a chain now.
 *
 * <p>Which way is cheaper is measured: samples of each piece are looked up along the chain, each
 * for so long that a thread which was kept waiting in between does not decide. What it takes there
 * to put values together does not count: both ways do that.
 */
final class Roll implements AutoCloseable {
  /** What moves a record, unless a newer one of its key lies at {@code newerFrom} or above. */
  interface Moves {
    void move(ScanCursor scan, Movers movers, long newerFrom);
  }

  private static final long STOPPED = -1;
  private static final int SAMPLE = 64;

  private final Engine engine;
  private final HybridLog log;
  private final Pace pace;
  private final Moves moves;
  private final RollCosts costs;
  private final long begin;
  private final long end;
  private final Movers movers;
  private @Nullable KeyTable table;
  private boolean isTableWanted = true;

  /** Below it, all records above the table's piece have been seen. */
  private long sweptUntil;

  private long paidUntil;
  private int sampled;
  private int nextLook;
  private long sampledBytes;
  private long sampledKeyBytes;
  private long sampledNanos;

  /** How long it took to put values together since the sample was begun. */
  private long foldNanos;

  Roll(Engine engine, ScanRange piece, Pace pace, Moves moves, RollCosts costs) {
    this.engine = engine;
    log = engine.log();
    begin = piece.begin();
    end = piece.end();
    this.pace = pace;
    this.moves = moves;
    this.costs = costs;
    movers = new Movers(engine);
  }

  /** Goes over the whole piece; false if the pace has ended it. */
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

  /** Looks records up from {@code from} on; returns where the other way is to go on. */
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
        if (Movers.isWorthALook(scan)) {
          movers.touchAhead(scan);
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
      // A scan of the piece, one of what lies above it, and one of somebody else's.
      table = KeyTable.tryTake(engine.buffers(), 3 * log.pageBytes());
    }
    return table;
  }

  /** Moves what is live of as many records from {@code from} on as fit the table. */
  private long inSequence(long from) {
    KeyTable keys = table();
    if (keys == null) {
      return alongChains(from);
    }
    try {
      return inSequence(keys, from);
    } catch (OutOfBudget e) {
      // Others have taken the scratch memory for the scans; this way takes less.
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
        if (Movers.isWorthALook(scan)) {
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
    if (!Movers.isWorthALook(scan)) {
      keys.kill(scan.key(), scan.address());
      return true;
    }
    return scan.isDelta() ? keys.putDelta(scan.key()) : keys.put(scan.key(), scan.address());
  }

  /** Strikes out the keys of all records, but deltas, that have come to be above the piece. */
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

  /** Waits for its turn to look at a page that it comes to; false if it is to end. */
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
