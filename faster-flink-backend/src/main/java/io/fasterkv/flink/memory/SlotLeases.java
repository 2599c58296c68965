package io.fasterkv.flink.memory;

import io.fasterkv.flink.config.FasterOptions;
import io.fasterkv.spi.MemoryHolder;
import java.io.IOException;
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
import org.jspecify.annotations.Nullable;

/**
 * Divides a slot's memory for state among its stores. The leases never add up to more than the
 * pool. Safe for use by all threads.
 *
 * <p>The number of stores is not known in advance, so the n-th store leases 1/n of the free memory
 * and of the other indexes' spare memory ({@link OpeningPart}). If that is less than a fair part,
 * which is a quarter of an equal part, the largest stores release what is missing, down to a fair
 * part, and down to the minimum if the new store still has less. One that takes longer than {@link
 * #LONGEST_WAIT} is skipped; what it releases later is free then. A new store that has less than
 * its minimum also waits for stores that are still opening.
 *
 * <p>Where stores cannot release memory, the pool has a number of equal parts, and each store
 * leases one.
 */
final class SlotLeases {
  private static final long GRANULE = 1 << 10;

  /**
   * A larger fair part leaves room for fewer stores, since a store's index keeps what it has taken.
   */
  private static final long FAIR_DIVISOR = 4;

  /** How long an opening store waits for one other to release memory. */
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

  /** The longest wait in all is as many times as long. */
  private static final int WAITS_IN_ALL = 3;

  private final long bytes;
  private final String option;
  private final OpeningPart opening;
  private final long longestWaitNanos;

  private final List<Lease> leases = new ArrayList<>();
  private long leased;

  /** Held by the one store that others are releasing memory for. */
  private final ReentrantLock reclaiming = new ReentrantLock();

  /**
   * @param option the option to raise if the memory is too little
   * @param opening how much a store leases
   */
  SlotLeases(long bytes, String option, OpeningPart opening) {
    this(bytes, option, opening, LONGEST_WAIT);
  }

  /**
   * @param longestWait for one other store; the longest wait in all is three times as long
   */
  SlotLeases(long bytes, String option, OpeningPart opening, Duration longestWait) {
    this.bytes = bytes;
    this.option = option;
    this.opening = opening;
    longestWaitNanos = longestWait.toNanos();
  }

  /** An attempt to move memory. */
  interface Attempt {
    /** Returns whether memory has moved. */
    boolean run() throws InterruptedException;
  }

  /** One store's part of the pool; it may change while the store is open. */
  final class Lease {
    private final String name;
    private final long minimum;
    private long bytes;
    private @Nullable MemoryHolder holder;

    private Lease(String name, long minimum, long bytes) {
      this.name = name;
      this.minimum = minimum;
      this.bytes = bytes;
    }

    long bytes() {
      synchronized (SlotLeases.this) {
        return bytes;
      }
    }

    /** From now on the store may be asked to release memory, and offered more. */
    void heldBy(MemoryHolder store) {
      synchronized (SlotLeases.this) {
        holder = store;
        SlotLeases.this.notifyAll();
      }
    }

    long minimum() {
      return minimum;
    }

    /** The open store; null before and after. */
    @Nullable MemoryHolder holder() {
      synchronized (SlotLeases.this) {
        return holder;
      }
    }

    /** Adds bytes that no store has, at most so many; returns how many. */
    long raise(long most) {
      synchronized (SlotLeases.this) {
        long given = holder == null ? 0 : Math.min(most, free());
        bytes += given;
        leased += given;
        return given;
      }
    }

    /** Notes what the store has released; nothing if the lease has ended. */
    void shrink(long released) {
      synchronized (SlotLeases.this) {
        long counted = Math.min(released, bytes);
        bytes -= counted;
        leased -= counted;
      }
    }

    /** Returns the rest; the store must be closed. */
    void end() {
      synchronized (SlotLeases.this) {
        holder = null;
        leases.remove(this);
        leased -= bytes;
        bytes = 0;
        SlotLeases.this.notifyAll();
      }
    }

    @Override
    public String toString() {
      return name + ": " + bytes;
    }
  }

  /**
   * Leases memory for a store that opens, at least {@code minimum}; in whole KiB. If that is less
   * than a fair part, waits while larger stores release memory.
   *
   * @param name names the store in messages
   * @throws IOException if less than the minimum can be had; the message says what to change
   */
  Lease lease(String name, long minimum) throws IOException {
    Lease atOnce = tryLease(name, part(minimum), minimum);
    if (atOnce != null) {
      return atOnce;
    }
    long deadline = System.nanoTime() + WAITS_IN_ALL * longestWaitNanos;
    boolean isMine = false;
    try {
      isMine = reclaiming.tryLock(WAITS_IN_ALL * longestWaitNanos, TimeUnit.NANOSECONDS);
      long wanted = isMine ? reclaim(minimum, deadline) : part(minimum);
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

  /** Leases a part of what is free; null if that would be less than a fair part. */
  private synchronized @Nullable Lease tryLease(String name, long part, long minimum)
      throws IOException {
    boolean isEnough = part >= Math.max(minimum, fairBytes()) && part <= free();
    return isEnough ? grant(name, part, minimum) : null;
  }

  /** A store whose index does not need all of its memory. */
  private record Spare(Lease lease, long bytes) {
    static Spare of(Lease lease) {
      MemoryHolder holder = lease.holder();
      long spare = holder == null ? 0 : holder.memoryUses().spareIndexBytes();
      return new Spare(lease, Math.clamp(lease.bytes() - lease.minimum(), 0, spare));
    }

    /** Releases up to so many bytes; returns how many. */
    long release(long most) {
      // Two openers together must not take a store's minimum.
      synchronized (lease) {
        MemoryHolder holder = lease.holder();
        long wanted = Math.min(most, of(lease).bytes);
        long released = holder == null || wanted <= 0 ? 0 : holder.releaseIndexMemory(wanted);
        lease.shrink(released);
        return released;
      }
    }
  }

  /**
   * Bytes that a new store gets of what is free and of what other stores' indexes do not need,
   * which they release at once, the one with most of it first.
   */
  private long part(long minimum) {
    List<Spare> spares =
        held().stream()
            .map(Spare::of)
            .sorted(Comparator.comparingLong(Spare::bytes).reversed())
            .toList();
    long ofFree = part(0, minimum);
    long ofOthers = part(spares.stream().mapToLong(Spare::bytes).sum(), minimum) - ofFree;
    long released = 0;
    for (Spare spare : spares) {
      released += spare.release(ofOthers - released);
    }
    return ofFree + released;
  }

  /** Bytes that a new store gets if others release so many bytes. */
  private synchronized long part(long released, long minimum) {
    return opening.bytes(bytes, free() + released, leases.size(), minimum);
  }

  /** Bytes that others release memory for. */
  synchronized long fairBytes() {
    long fair = bytes / (leases.size() + 1) / FAIR_DIVISOR;
    return opening.isOfPool() ? Math.min(fair, bytes / opening.parts()) : fair;
  }

  /**
   * Makes larger stores release what a new one lacks; returns how many bytes that may lease. It
   * gets only its part of what is free: stores that open at the same time need the rest, and cannot
   * release memory.
   */
  private long reclaim(long minimum, long deadline) throws InterruptedException {
    long part = part(minimum);
    long free = free();
    long fair = Math.max(minimum, fairBytes());
    if (part < fair) {
      reclaimUntil(free + fair - part, fair, deadline, false);
    }
    // Only a store that cannot open without it waits for others to open.
    reclaimUntil(minimum, minimum, deadline, true);
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
      ask(largest, Math.min(missing, largest.bytes() - kept), left);
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

  /** Bytes that no store has leased. */
  synchronized long free() {
    return bytes - leased;
  }

  /** Runs an attempt, unless a store is opening, which has precedence; returns its result. */
  boolean unlessOneOpens(Attempt attempt) throws InterruptedException {
    if (!reclaiming.tryLock()) {
      return false;
    }
    try {
      return attempt.run();
    } finally {
      reclaiming.unlock();
    }
  }

  /** Waits until a store has released memory, or for this time. */
  void ask(Lease lease, long wanted, long most) throws InterruptedException {
    long nanos = Math.min(most, longestWaitNanos);
    MemoryHolder holder = lease.holder();
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

  /** The leases of stores that are open. */
  synchronized List<Lease> held() {
    return leases.stream().filter(lease -> lease.holder != null).toList();
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
                + remedy()
                + ", or give operators slot sharing groups of their own");
  }

  private String remedy() {
    return !opening.isOfPool() || leases.size() < opening.parts()
        ? ""
        : ", raise "
            + FasterOptions.OPERATORS.key()
            + "="
            + opening.parts()
            + " to the number of operators with state";
  }

  /** Free bytes that no index may take: stores that open later must find them. */
  synchronized long reservedBytes() {
    return Math.max(fairBytes(), opening.reservedBytes(bytes, leases.size()));
  }

  /** Bytes of the pool. */
  long bytes() {
    return bytes;
  }

  /** Bytes that are leased now: 0 to the pool's size. */
  synchronized long leased() {
    return leased;
  }
}
