package io.fasterkv.flink.records;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Gives out the identities of values of several records, see {@link PartLayout}, and says which
 * parts compaction must keep although no head leads to them. The task's thread writes; the thread
 * that compacts asks {@link #mayGo}, and who reads published state asks {@link #isTimed}.
 *
 * <p>Parts are written before their head. So those of an identity that is being written, and all
 * later ones, stay whatever the head says. What compaction finds in the log was written before, and
 * it sees what this class said before that: either that the identity is to be kept, or that its
 * head has been written since, and then the head is there for it to see, or has gone for good.
 */
public final class Identities {
  /** The first that is given out. */
  public static final long FIRST = 1;

  private final IntFunction<String> stateNames;
  private long next = FIRST;

  /** Whether all heads are in the store that belong there; not while it is being restored. */
  private boolean isComplete;

  /** Identities from this on have parts whose head is not written yet. */
  private volatile long keptFrom;

  /** States that once had a time to live, by number; replaced as a whole. */
  private volatile BitSet timed = new BitSet();

  /** States whose records with an empty key are blocks of trees; replaced as a whole. */
  private volatile BitSet trees = new BitSet();

  /** Who still reads a value that has gone. */
  private final ConcurrentHashMap<Long, List<Hold>> holds = new ConcurrentHashMap<>();

  private final ReferenceQueue<Object> ended = new ReferenceQueue<>();

  private static final class Hold extends WeakReference<Object> {
    private final long identity;

    Hold(long identity, Object reader, ReferenceQueue<Object> ended) {
      super(reader, ended);
      this.identity = identity;
    }
  }

  /**
   * @param stateNames names of states by number
   */
  public Identities(IntFunction<String> stateNames) {
    this.stateNames = stateNames;
  }

  String stateName(int state) {
    return stateNames.apply(state);
  }

  /** Goes on from another store's: later identities are {@code from} or above. */
  public void continueFrom(long from) {
    next = Math.max(next, from);
  }

  /** All that is to be restored is there. */
  public void complete() {
    isComplete = true;
    written();
  }

  /** The next identity; all that were given out are below. */
  public long next() {
    return next;
  }

  /** A new identity. Its parts stay until {@link #written}. */
  long take() {
    return next++;
  }

  /** Parts of an identity are going to be written whose head may not be there any more. */
  void writing(long identity) {
    if (identity < keptFrom) {
      keptFrom = identity;
    }
  }

  /** The heads of all identities that were given out have been written. */
  void written() {
    if (isComplete && keptFrom != next) {
      keptFrom = next;
    }
  }

  /** Keeps the parts of a value that is about to go, as long as this reader is reachable. */
  void hold(long identity, Object reader) {
    for (Object gone = ended.poll(); gone != null; gone = ended.poll()) {
      Hold hold = (Hold) gone;
      holds.computeIfPresent(hold.identity, (same, all) -> without(all, hold));
    }
    List<Hold> fresh = List.of(new Hold(identity, reader, ended));
    holds.merge(
        identity, fresh, (all, more) -> Stream.concat(all.stream(), more.stream()).toList());
  }

  private static @Nullable List<Hold> without(List<Hold> all, Hold gone) {
    List<Hold> left = all.stream().filter(hold -> hold != gone).toList();
    return left.isEmpty() ? null : left;
  }

  private boolean isHeld(long identity) {
    List<Hold> all = holds.get(identity);
    return all != null && all.stream().anyMatch(hold -> hold.get() != null);
  }

  /** Whether all parts stay: there are none, or not all of the heads. */
  boolean keepsAll() {
    return keptFrom <= FIRST;
  }

  /**
   * Whether nobody will ask for the parts of an identity any more.
   *
   * @param head reads the identity of their head anew
   */
  boolean mayGo(long identity, LongSupplier head) {
    // In this order: who keeps the part says so before the head is written.
    return identity < keptFrom && identity != head.getAsLong() && !isHeld(identity);
  }

  /** A state has a time to live, or had one: any of its parts may be missing. */
  public void noteTimed(int state) {
    if (!timed.get(state)) {
      timed = with(timed, state);
    }
  }

  public boolean isTimed(int state) {
    return timed.get(state);
  }

  public BitSet timed() {
    return (BitSet) timed.clone();
  }

  /** A state is a timer queue. */
  public void noteTrees(int state) {
    if (!trees.get(state)) {
      trees = with(trees, state);
    }
  }

  public boolean areTrees(int state) {
    return trees.get(state);
  }

  private static BitSet with(BitSet set, int state) {
    BitSet next = (BitSet) set.clone();
    next.set(state);
    return next;
  }
}
