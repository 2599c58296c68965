package io.fasterkv.flink.memory;

import io.fasterkv.flink.config.FasterSettings;
import io.fasterkv.flink.memory.MemoryArbiter.Move;
import io.fasterkv.spi.MemoryHolder;
import io.fasterkv.spi.MemoryUses;
import java.io.IOException;
import java.lang.System.Logger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.configuration.ConfigOption;
import org.jspecify.annotations.Nullable;

/**
 * The part of a slot's memory that is meant for state; all stores of the slot share it. The leases
 * never add up to more than the pool. Safe for use by all threads.
 *
 * <p>The number of stores is not known in advance, so a store leases a share of what is free, the
 * n-th one at most an n-th of it. If that is less than a quarter of an equal part of the pool, the
 * largest stores release what is missing, down to that quarter, and down to the minimum if the new
 * store still has less. One that takes longer than {@link #LONGEST_WAIT} is skipped; what it
 * releases later is free then. A new store that has less than its minimum also waits for stores
 * that are still opening.
 *
 * <p>While stores are open, {@link #balance} moves memory to those that need it, as {@link
 * MemoryArbiter} decides: what is free, and then what others need less.
 */
final class SlotMemory implements AutoCloseable {
  private static final long GRANULE = 1 << 10;

  private static final MemoryUses NO_USES = new MemoryUses(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  /**
   * New stores get a quarter of an equal part. A larger share leaves room for fewer stores, since a
   * store's index keeps what it has taken.
   */
  private static final long FAIR_DIVISOR = 4;

  /**
   * How long {@link #balance} waits for a store: a store that opens meanwhile waits as long. What
   * is released later is moved then.
   */
  private static final Duration BALANCE_WAIT = Duration.ofSeconds(1);

  /** Number of looks for which a store that released nothing is not asked again. */
  private static final int REST_LOOKS = 200;

  /** Number of looks for which nothing moves from or to a store that accepted nothing. */
  private static final int SHORT_REST_LOOKS = 20;

  /** How long an opening store waits for one other to release memory. */
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

  /** The longest wait in all is as many times as long. */
  private static final int WAITS_IN_ALL = 3;

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

  private final long bytes;
  private final String option;
  private final Runnable release;
  private final long longestWaitNanos;

  /** Null until {@link #balanceAlways}. */
  private @Nullable MemoryBalancing balancing;

  private final List<Lease> leases = new ArrayList<>();
  private long leased;

  /** How often {@link #balance} has looked since it began to count what stores do. */
  private int looks;

  /** Held by the one store that others are releasing memory for. */
  private final ReentrantLock reclaiming = new ReentrantLock();

  /**
   * @param option the option to raise if the memory is too little
   * @param release called when no store uses the pool any more
   */
  SlotMemory(long bytes, ConfigOption<?> option, Runnable release) {
    this(bytes, option, release, LONGEST_WAIT);
  }

  /**
   * @param longestWait for one other store; the longest wait in all is three times as long
   */
  SlotMemory(long bytes, ConfigOption<?> option, Runnable release, Duration longestWait) {
    this.bytes = bytes;
    this.option = option.key();
    this.release = release;
    longestWaitNanos = longestWait.toNanos();
  }

  /**
   * Balances the memory from now on, until it is closed; does nothing if it was called before.
   *
   * @param logger receives a failure, after which nothing is moved any more
   */
  synchronized void balanceAlways(Logger logger) {
    if (balancing == null) {
      balancing = MemoryBalancing.start(this::balance, logger);
    }
  }

  /** Whether memory is being balanced: not before the first store, and not after a failure. */
  synchronized boolean isBalanced() {
    return balancing != null && balancing.isRunning();
  }

  /** One store's part of the pool; it may change while the store is open. */
  final class Lease {
    private final String name;
    private final long minimum;
    private long bytes;
    private @Nullable MemoryHolder holder;

    /** What the store had done at the first of the looks that count; for {@link #balance}. */
    private @Nullable MemoryUses before;

    /** For how many looks nothing is moved from or to it; for {@link #balance}. */
    private int rests;

    private Lease(String name, long minimum, long bytes) {
      this.name = name;
      this.minimum = minimum;
      this.bytes = bytes;
    }

    long bytes() {
      synchronized (SlotMemory.this) {
        return bytes;
      }
    }

    SlotMemory slot() {
      return SlotMemory.this;
    }

    /** From now on the store may be asked to release memory, and offered more. */
    void heldBy(MemoryHolder store) {
      synchronized (SlotMemory.this) {
        holder = store;
        SlotMemory.this.notifyAll();
      }
    }

    /** Notes what the store has released; nothing if the lease has ended. */
    private void shrink(long released) {
      synchronized (SlotMemory.this) {
        long counted = Math.min(released, bytes);
        bytes -= counted;
        leased -= counted;
      }
    }

    /** Returns the rest; the store must be closed. */
    void end() {
      synchronized (SlotMemory.this) {
        holder = null;
        leases.remove(this);
        leased -= bytes;
        bytes = 0;
        SlotMemory.this.notifyAll();
      }
    }

    @Override
    public String toString() {
      return name + ": " + bytes;
    }
  }

  /**
   * Leases {@code share} of the free memory, or less if there are several stores, but at least
   * {@code minimum}; in whole KiB. If that is less than a quarter of an equal part, waits while
   * larger stores release memory.
   *
   * @param name names the store in messages
   * @throws IOException if less than the minimum can be had; the message says what to change
   */
  Lease lease(String name, double share, long minimum) throws IOException {
    Lease atOnce = tryLease(name, share, minimum);
    if (atOnce != null) {
      return atOnce;
    }
    long deadline = System.nanoTime() + WAITS_IN_ALL * longestWaitNanos;
    boolean isMine = false;
    try {
      isMine = reclaiming.tryLock(WAITS_IN_ALL * longestWaitNanos, TimeUnit.NANOSECONDS);
      long wanted = isMine ? reclaim(share, minimum, deadline) : part(share);
      return grant(name, wanted, minimum);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while other stores release memory: store=" + name, e);
    } finally {
      if (isMine) {
        reclaiming.unlock();
      }
    }
  }

  /** Leases memory that is free; null if that would be less than a fair part. */
  private synchronized @Nullable Lease tryLease(String name, double share, long minimum)
      throws IOException {
    long part = part(share);
    return part >= Math.max(minimum, fairBytes()) ? grant(name, part, minimum) : null;
  }

  /** Bytes that a store gets of what is free. */
  private synchronized long part(double share) {
    return (long) (free() * Math.min(share, 1.0 / (leases.size() + 1)));
  }

  private synchronized long fairBytes() {
    return bytes / (leases.size() + 1) / FAIR_DIVISOR;
  }

  /** Makes larger stores release what a new one lacks; returns how many bytes that may lease. */
  private long reclaim(double share, long minimum, long deadline) throws InterruptedException {
    long part = part(share);
    long free = free();
    long fair = Math.max(minimum, fairBytes());
    if (part < fair) {
      // Only a store that cannot open without it waits for others to open.
      reclaimUntil(free + fair - part, fair, deadline, false);
      reclaimUntil(minimum, minimum, deadline, true);
    }
    return Math.max(part, Math.min(fair, part + Math.max(0, free() - free)));
  }

  /** Lets the stores that have more than {@code kept} release memory until so much is free. */
  private void reclaimUntil(long wanted, long kept, long deadline, boolean waitsForOpening)
      throws InterruptedException {
    Set<Lease> asked = new HashSet<>();
    for (long missing = wanted - free(); missing > 0; missing = wanted - free()) {
      Lease largest =
          (waitsForOpening ? awaitLargest(kept, asked, deadline) : largest(kept, asked))
              .orElse(null);
      long left = deadline - System.nanoTime();
      if (largest == null || left <= 0) {
        return;
      }
      asked.add(largest);
      ask(largest, Math.min(missing, largest.bytes() - kept), Math.min(left, longestWaitNanos));
    }
  }

  /** Returns the largest store to ask. If all of these are still opening, it waits for one. */
  private synchronized Optional<Lease> awaitLargest(long above, Set<Lease> except, long deadline)
      throws InterruptedException {
    while (true) {
      Optional<Lease> largest = largest(above, except);
      long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      if (largest.isPresent() || millis <= 0 || larger(above, except).findAny().isEmpty()) {
        return largest;
      }
      wait(millis);
    }
  }

  private synchronized Optional<Lease> largest(long above, Set<Lease> except) {
    return larger(above, except)
        .filter(lease -> lease.holder != null)
        .max(Comparator.comparingLong(lease -> lease.bytes));
  }

  private synchronized Stream<Lease> larger(long above, Set<Lease> except) {
    return leases.stream().filter(lease -> lease.bytes > above && !except.contains(lease));
  }

  private synchronized Lease grant(String name, long wanted, long minimum) throws IOException {
    long free = free();
    if (free < minimum) {
      throw tooLittle(free, minimum);
    }
    long granted = Math.min(free, wanted) / GRANULE * GRANULE;
    Lease lease = new Lease(name, minimum, Math.max(minimum, granted));
    leases.add(lease);
    leased += lease.bytes;
    return lease;
  }

  private synchronized long free() {
    return bytes - leased;
  }

  /** Waits until a store has released memory, or for this time. */
  private void ask(Lease lease, long wanted, long nanos) throws InterruptedException {
    MemoryHolder holder = holder(lease);
    if (holder == null || holder.releasableBytes() == 0) {
      return;
    }
    CompletableFuture<Long> given = new CompletableFuture<>();
    LongConsumer receiver =
        released -> {
          lease.shrink(released);
          given.complete(released);
        };
    // The holder's time is shorter, so that its answer arrives before this wait ends.
    if (holder.releaseMemory(wanted, Duration.ofNanos(nanos / 4 * 3), receiver)) {
      try {
        given.get(nanos, TimeUnit.NANOSECONDS);
      } catch (TimeoutException late) {
        // What it releases later is free then.
      } catch (ExecutionException e) {
        throw new AssertionError(e);
      }
    }
  }

  /**
   * Looks at what the stores did lately, and makes the next move of memory if there is one; returns
   * whether there was. Waits for the store that releases memory. One caller at a time.
   */
  boolean balance() throws InterruptedException {
    List<Lease> open = held();
    List<MemoryArbiter.Store> stores = open.stream().map(this::look).toList();
    Move move =
        MemoryArbiter.next(
            stores,
            looks >= LEAST_LOOKS,
            free(),
            mostForIndexes(stores),
            Math.min(bytes / STEPS, MOST_MOVE),
            leastMove());
    looks++;
    boolean isMoved = move != null && tryMove(open, move);
    // A log's reads from disk change with its memory, so they are counted anew.
    if ((isMoved && move != null && !move.isForIndex()) || looks >= MOST_LOOKS) {
      open.forEach(lease -> lease.before = null);
      looks = 0;
    }
    return isMoved;
  }

  /** An index keeps what it gets, and a store that opens later must find its fair part. */
  private long mostForIndexes(List<MemoryArbiter.Store> stores) {
    long releasable = stores.stream().mapToLong(MemoryArbiter.Store::releasable).sum();
    return free() + releasable - fairBytes();
  }

  /** The fewest bytes that are worth a move. */
  private long leastMove() {
    return Math.max(FasterSettings.PAGE_BYTES, bytes / LEAST_STEPS);
  }

  private synchronized List<Lease> held() {
    return leases.stream().filter(lease -> lease.holder != null).toList();
  }

  private MemoryArbiter.Store look(Lease lease) {
    MemoryHolder holder;
    long has;
    synchronized (this) {
      holder = lease.holder;
      has = lease.bytes;
    }
    if (holder == null) {
      return new MemoryArbiter.Store(0, 0, 0, 0, 0, NO_USES);
    }
    MemoryUses now = holder.memoryUses();
    MemoryUses before = lease.before == null ? now : lease.before;
    lease.before = before;
    lease.rests = Math.max(0, lease.rests - 1);
    return new MemoryArbiter.Store(
        has,
        lease.rests > 0 ? 0 : Math.min(has - lease.minimum, holder.releasableBytes()),
        lease.rests > 0 ? 0 : holder.acceptableBytes(),
        now.hits() - before.hits(),
        now.diskReads() - before.diskReads(),
        now);
  }

  /** Does nothing while a store is opening, which has precedence; returns whether memory moved. */
  private boolean tryMove(List<Lease> open, Move move) throws InterruptedException {
    if (!reclaiming.tryLock()) {
      return false;
    }
    try {
      if (move.from() == move.to()) {
        return moveWithin(open.get(move.to()), move.bytes());
      }
      if (move.from() != Move.FREE) {
        Lease giver = open.get(move.from());
        ask(giver, move.bytes(), Math.min(longestWaitNanos, BALANCE_WAIT.toNanos()));
        giver.rests = free() < leastMove() ? REST_LOOKS : 0;
      }
      return free() >= leastMove() && give(open.get(move.to()), move);
    } finally {
      reclaiming.unlock();
    }
  }

  private synchronized @Nullable MemoryHolder holder(Lease lease) {
    return lease.holder;
  }

  /** Gives a store's log what its index does not use; returns whether it took any. */
  private boolean moveWithin(Lease lease, long most) {
    MemoryHolder holder = holder(lease);
    boolean isMoved = holder != null && holder.moveIndexMemoryToLog(most) > 0;
    lease.rests = isMoved ? 0 : SHORT_REST_LOOKS;
    return isMoved;
  }

  /** Offers a store what is free, as far as it is meant to get it; returns whether it took any. */
  private boolean give(Lease lease, Move move) {
    MemoryHolder holder;
    long given;
    synchronized (this) {
      holder = lease.holder;
      given = Math.min(move.bytes(), free());
      if (holder == null || given <= 0) {
        return false;
      }
      lease.bytes += given;
      leased += given;
    }
    long accepted = 0;
    try {
      accepted =
          move.isForIndex() ? holder.acceptIndexMemory(given) : holder.acceptLogMemory(given);
    } finally {
      lease.shrink(given - accepted);
    }
    lease.rests = accepted > 0 ? 0 : SHORT_REST_LOOKS;
    return accepted > 0;
  }

  private IOException tooLittle(long free, long minimum) {
    return minimum > bytes
        ? new IOException(
            "the minimum memory of a store exceeds the slot's memory:"
                + " state.backend.faster.memory.minimum-per-operator="
                + minimum
                + " bytes, memory of the slot for state="
                + bytes
                + "; lower the former, or raise "
                + option)
        : new IOException(
            "too many operators with state share the slot's memory: operators="
                + leases.size()
                + ", free="
                + free
                + " of "
                + bytes
                + " bytes, needed for another="
                + minimum
                + ", leases in bytes="
                + leases.stream().map(Lease::toString).collect(Collectors.joining(", ", "[", "]"))
                + "; raise "
                + option
                + ", lower"
                + " state.backend.faster.memory.lease-share so that the slot's first stores leave"
                + " more to the others, or give operators slot sharing groups of their own");
  }

  /** Bytes of the pool. */
  long bytes() {
    return bytes;
  }

  /** Bytes that are leased now: 0 to the pool's size. */
  synchronized long leased() {
    return leased;
  }

  @Override
  public void close() {
    MemoryBalancing started;
    synchronized (this) {
      started = balancing;
    }
    try {
      if (started != null) {
        started.close();
      }
    } finally {
      release.run();
    }
  }
}
