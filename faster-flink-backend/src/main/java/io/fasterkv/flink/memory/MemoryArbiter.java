package io.fasterkv.flink.memory;

import io.fasterkv.spi.MemoryUses;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides which store of a slot gets memory next, and from which other one. Stores are compared by
 * the benefit of a byte: how many disk reads it would have saved lately. A read from anywhere in
 * the log's part on disk counts alike, so the benefit is the number of reads divided by the length
 * of that part. What an index has not taken and does not need for its next growth is given up
 * first; then, of a store that reads nothing from disk, what its log does not use. A log that is
 * all in memory gives up hits. Memory moves only if the receiver's benefit is more than twice the
 * giver's, so that two stores that need it equally do not pass it to and fro. A store gets no more
 * before its log has filled what it has.
 *
 * <p>An index that is nearly full, or full and in use, comes first: it gets what it lacks of what
 * is of no use to others, memory that is free or that its owner does not use. What others lose for
 * a log goes to that store's index instead while this lacks memory, since lookups in a full index
 * read other keys' records. A log gets what its own index does not use before anything else.
 */
final class MemoryArbiter {
  /** Fewer disk reads than this do not tell how much a store needs. */
  static final long LEAST_READS = 100;

  private static final double HYSTERESIS = 2;

  private static final int NONE = -1;

  private MemoryArbiter() {}

  /**
   * One store and what it did lately.
   *
   * @param bytes what it has now
   * @param releasable bytes that it can release without falling below its minimum
   * @param acceptable bytes that it can accept
   * @param hits operations that found their key in memory
   * @param diskReads operations that found their key on disk
   * @param uses how it uses its memory now
   */
  record Store(
      long bytes, long releasable, long acceptable, long hits, long diskReads, MemoryUses uses) {

    /** Whether it has read from disk often enough to tell that it needs memory. */
    private boolean isInNeed() {
      return diskReads >= LEAST_READS;
    }

    /** The part of the log that has records when the log is full; the rest is clear pages. */
    private long fullBytes() {
      return uses.logBytes() / 4 * 3;
    }

    /** Whether its log has filled what it has. */
    boolean isFilled() {
      return uses.usedBytes() >= fullBytes();
    }

    /** Disk reads that another byte of memory would have saved. */
    private double gain() {
      return isInNeed() && isFilled() ? (double) diskReads / Math.max(1, uses.diskBytes()) : 0;
    }

    /** What index and log do not use of their memory. */
    long unusedBytes() {
      long ofLog = isInNeed() ? 0 : Math.max(0, fullBytes() - uses.usedBytes());
      return uses.spareIndexBytes() + ofLog;
    }

    /** What its index could leave to its log. */
    private long ownSpare() {
      return Math.min(releasable, Math.min(uses.logAcceptableBytes(), uses.spareIndexBytes()));
    }

    /** What its log could get from others. */
    long acceptableByLog() {
      return Math.min(acceptable, uses.logAcceptableBytes());
    }

    /**
     * How much to take away, at most {@code most} bytes: no more than is unused, if that is enough.
     */
    private long offer(long most, long least) {
      long unused = Math.min(releasable, unusedBytes());
      return Math.min(most, unused >= least ? unused : releasable);
    }

    /** Disk reads for each byte that are added if {@code bytes} are taken away. */
    private double loss(long bytes) {
      if (bytes <= unusedBytes()) {
        return 0;
      }
      return uses.diskBytes() > 0
          ? (double) diskReads / uses.diskBytes()
          : (double) hits / Math.max(1, uses.usedBytes());
    }
  }

  /**
   * A move of memory.
   *
   * @param from the store that releases memory, or {@link #FREE}; the receiver itself if its log
   *     gets what its index does not use
   * @param to the store that accepts it
   * @param bytes how much is moved at most
   * @param isForIndex whether it is for the receiver's index, otherwise for its log
   */
  record Move(int from, int to, long bytes, boolean isForIndex) {
    /** Stands for memory that no store has. */
    static final int FREE = NONE;
  }

  /**
   * The next move; null if memory should stay where it is.
   *
   * @param isKnown whether the stores were looked at for long enough to know what they use; if not,
   *     none gives up memory
   * @param free bytes that no store has
   * @param mostForIndexes the most bytes that an index may get now
   * @param step the most bytes to move at a time
   * @param least the fewest bytes that are worth a move
   */
  static @Nullable Move next(
      List<Store> stores, boolean isKnown, long free, long mostForIndexes, long step, long least) {
    int full = mostForIndexes < least ? NONE : withFullIndex(stores);
    if (full != NONE) {
      long lack = Math.max(least, stores.get(full).uses.indexLackBytes());
      long most = Math.min(lack, mostForIndexes);
      Move move = cheapest(stores, full, free, most, least, true);
      if (move != null && isOfNoUse(move, stores, isKnown)) {
        return move;
      }
    }
    int neediest = neediest(stores, least);
    if (neediest == NONE) {
      return null;
    }
    Store receiver = stores.get(neediest);
    if (receiver.ownSpare() >= least) {
      return new Move(neediest, neediest, Math.min(step, receiver.ownSpare()), false);
    }
    boolean isForIndex = receiver.uses.indexLackBytes() > 0 && mostForIndexes >= least;
    long wanted =
        isForIndex
            ? Math.min(mostForIndexes, Math.max(least, receiver.uses.indexLackBytes()))
            : receiver.acceptableByLog();
    Move move = cheapest(stores, neediest, free, Math.min(step, wanted), least, isForIndex);
    boolean isMade = move != null && (move.from == Move.FREE || (isKnown && isWorth(move, stores)));
    return isMade ? move : null;
  }

  /** Whether it is free or its owner does not use it; a log's use takes some looks to know. */
  private static boolean isOfNoUse(Move move, List<Store> stores, boolean isKnown) {
    if (move.from == Move.FREE) {
      return true;
    }
    Store giver = stores.get(move.from);
    return move.bytes <= (isKnown ? giver.unusedBytes() : giver.uses.spareIndexBytes());
  }

  private static boolean isWorth(Move move, List<Store> stores) {
    return stores.get(move.to).gain() > HYSTERESIS * stores.get(move.from).loss(move.bytes);
  }

  /** The cheapest move to a store, of what is free or from one other; null if there is none. */
  private static @Nullable Move cheapest(
      List<Store> stores, int to, long free, long most, long least, boolean isForIndex) {
    if (free >= least) {
      return new Move(Move.FREE, to, Math.min(most, free), isForIndex);
    }
    int from = cheapest(stores, to, most, least);
    return from == NONE
        ? null
        : new Move(from, to, stores.get(from).offer(most, least), isForIndex);
  }

  /** The store with the least memory among those whose index is nearly full. */
  private static int withFullIndex(List<Store> stores) {
    int first = NONE;
    for (int i = 0; i < stores.size(); i++) {
      Store store = stores.get(i);
      boolean isCandidate = store.uses.indexLackBytes() > 0 && store.acceptable > 0;
      if (isCandidate && (first == NONE || store.bytes < stores.get(first).bytes)) {
        first = i;
      }
    }
    return first;
  }

  private static int neediest(List<Store> stores, long least) {
    int neediest = NONE;
    double most = 0;
    for (int i = 0; i < stores.size(); i++) {
      Store store = stores.get(i);
      boolean isCandidate = Math.max(store.acceptableByLog(), store.ownSpare()) >= least;
      if (isCandidate && store.gain() > most) {
        neediest = i;
        most = store.gain();
      }
    }
    return neediest;
  }

  private static int cheapest(List<Store> stores, int except, long most, long least) {
    int cheapest = NONE;
    double lowest = Double.POSITIVE_INFINITY;
    for (int i = 0; i < stores.size(); i++) {
      Store store = stores.get(i);
      double loss = store.loss(store.offer(most, least));
      if (i != except && store.releasable >= least && loss < lowest) {
        cheapest = i;
        lowest = loss;
      }
    }
    return cheapest;
  }
}
