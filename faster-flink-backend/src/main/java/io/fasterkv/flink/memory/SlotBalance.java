package io.fasterkv.flink.memory;

import io.fasterkv.flink.config.FasterSettings;
import io.fasterkv.flink.memory.MemoryArbiter.Move;
import io.fasterkv.flink.memory.SlotLeases.Lease;
import io.fasterkv.spi.MemoryHolder;
import io.fasterkv.spi.MemoryUses;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Moves memory between the open stores of a slot, as {@link MemoryArbiter} decides and, if no store
 * needs any, {@link EqualParts}: what is free, and then what others need less. Not safe for
 * concurrent use.
 */
final class SlotBalance {
  private static final MemoryUses NO_USES = new MemoryUses(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  /**
   * How long to wait for a store: a store that opens meanwhile waits as long. What is released
   * later is moved then.
   */
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

  /** Number of looks for which a store that released nothing is not asked again. */
  private static final int REST_LOOKS = 200;

  /** Number of looks for which nothing moves from or to a store that accepted nothing. */
  private static final int SHORT_REST_LOOKS = 20;

  /** At most this part of the pool is moved at a time. */
  private static final long STEPS = 16;

  /** The most bytes to move at a time: more would take long to touch. */
  private static final long MOST_MOVE = 256 << 20;

  /** Less than this part of the pool is not moved. */
  private static final long LEAST_STEPS = 256;

  /** The counts start again after this many looks. */
  private static final int MOST_LOOKS = 40;

  /** Number of looks before a store may lose memory. */
  private static final int LEAST_LOOKS = 4;

  /** What the balance knows of one store. */
  private static final class Watched {
    /** What the store had done at the first of the looks that count. */
    @Nullable MemoryUses before;

    /** For how many looks nothing is moved from or to it. */
    int rests;
  }

  private final SlotLeases leases;
  private final Map<Lease, Watched> watched = new HashMap<>();

  /** How often it has looked since it began to count what stores do. */
  private int looks;

  SlotBalance(SlotLeases leases) {
    this.leases = leases;
  }

  /**
   * Looks at what the stores did lately, and makes the next move of memory if there is one; returns
   * whether there was. Waits for the store that releases memory.
   */
  boolean balance() throws InterruptedException {
    List<Lease> open = leases.held();
    watched.keySet().retainAll(open);
    List<MemoryArbiter.Store> stores = open.stream().map(this::look).toList();
    Move move = next(stores);
    looks++;
    boolean isMoved = move != null && leases.unlessOneOpens(() -> make(move, open));
    // A log's reads from disk change with its memory, so they are counted anew.
    if ((isMoved && move != null && !move.isForIndex()) || looks >= MOST_LOOKS) {
      watched.values().forEach(store -> store.before = null);
      looks = 0;
    }
    return isMoved;
  }

  /**
   * The next move: to a store that needs it, or else of what nobody needs; null if there is none.
   */
  private @Nullable Move next(List<MemoryArbiter.Store> stores) {
    boolean isKnown = looks >= LEAST_LOOKS;
    long free = leases.free();
    long mostForIndexes = mostForIndexes(stores);
    long step = Math.min(leases.bytes() / STEPS, MOST_MOVE);
    long least = leastMove();
    Move needed = MemoryArbiter.next(stores, isKnown, free, mostForIndexes, step, least);
    return needed != null
        ? needed
        : EqualParts.next(stores, isKnown, free, mostForIndexes, step, least);
  }

  /**
   * An index keeps what it takes, and a store that opens later must find its part: of what is free,
   * or of what logs release for it, which is what their stores have above a fair part.
   */
  private long mostForIndexes(List<MemoryArbiter.Store> stores) {
    long fair = leases.fairBytes();
    long ofLogs = stores.stream().mapToLong(store -> releasedForFair(store, fair)).sum();
    return leases.free() + ofLogs - leases.reservedBytes();
  }

  private static long releasedForFair(MemoryArbiter.Store store, long fair) {
    long most = Math.min(store.releasable(), store.uses().logReleasableBytes());
    return Math.clamp(store.bytes() - fair, 0, Math.max(0, most));
  }

  /** The fewest bytes that are worth a move. */
  private long leastMove() {
    return Math.max(FasterSettings.PAGE_BYTES, leases.bytes() / LEAST_STEPS);
  }

  private MemoryArbiter.Store look(Lease lease) {
    Watched store = watched.computeIfAbsent(lease, unknown -> new Watched());
    // In this order: a lease has no bytes when it has ended.
    long has = lease.bytes();
    MemoryHolder holder = lease.holder();
    if (holder == null) {
      return new MemoryArbiter.Store(0, 0, 0, 0, 0, NO_USES);
    }
    MemoryUses now = holder.memoryUses();
    MemoryUses before = store.before == null ? now : store.before;
    store.before = before;
    store.rests = Math.max(0, store.rests - 1);
    return new MemoryArbiter.Store(
        has,
        store.rests > 0 ? 0 : Math.min(has - lease.minimum(), holder.releasableBytes()),
        store.rests > 0 ? 0 : holder.acceptableBytes(),
        now.hits() - before.hits(),
        now.diskReads() - before.diskReads(),
        now);
  }

  /** Makes a move; returns whether memory has moved. */
  private boolean make(Move move, List<Lease> open) throws InterruptedException {
    Lease taker = open.get(move.to());
    if (move.from() == move.to()) {
      return restUnless(moveWithin(taker, move.bytes()), taker);
    }
    if (move.from() != Move.FREE) {
      takeFrom(open.get(move.from()), move.bytes());
    }
    long given = leases.free() < leastMove() ? 0 : taker.raise(move.bytes());
    return given > 0 && restUnless(give(taker, given, move.isForIndex()), taker);
  }

  private boolean restUnless(boolean isMoved, Lease taker) {
    rest(taker, isMoved ? 0 : SHORT_REST_LOOKS);
    return isMoved;
  }

  private void takeFrom(Lease giver, long bytes) throws InterruptedException {
    leases.ask(giver, bytes, LONGEST_WAIT.toNanos());
    rest(giver, leases.free() < leastMove() ? REST_LOOKS : 0);
  }

  private void rest(Lease lease, int looks) {
    watched.computeIfAbsent(lease, unknown -> new Watched()).rests = looks;
  }

  /** Gives a store's log what its index does not use; returns whether it took any. */
  private static boolean moveWithin(Lease lease, long most) {
    MemoryHolder holder = lease.holder();
    return holder != null && holder.moveIndexMemoryToLog(most) > 0;
  }

  /** Offers a store what its lease was raised by; returns whether it took any. */
  private static boolean give(Lease lease, long given, boolean isForIndex) {
    long accepted = 0;
    try {
      MemoryHolder holder = lease.holder();
      if (holder != null) {
        accepted = isForIndex ? holder.acceptIndexMemory(given) : holder.acceptLogMemory(given);
      }
    } finally {
      lease.shrink(given - accepted);
    }
    return accepted > 0;
  }
}
