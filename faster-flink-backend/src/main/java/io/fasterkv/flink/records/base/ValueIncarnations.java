package io.fasterkv.flink.records.base;

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
 * Assigns the incarnations of values that consist of several records (see {@link PartLayout}), and
 * tells compaction which parts to keep although no head refers to them. The task's thread writes;
 * compacting threads call {@link #mayBeDropped}, and readers of published state call {@link
 * #isTimed}.
 *
 * <p>Parts are written before their head. So the parts of an incarnation that is being written, and
 * of all later ones, stay whatever the head says. Compaction sees everything this class published
 * before a part was written to the log. So it sees either that the incarnation must be kept, or
 * that its head has been written since; then it finds the head, or the value was removed for good.
 */
public final class ValueIncarnations {
  /** The first incarnation that is assigned. */
  public static final long FIRST = 1;

  private final IntFunction<String> stateNames;
  private long next = FIRST;

  /** Whether the store has all heads; false while it is being restored. */
  private boolean isComplete;

  /** Incarnations from this one on have parts whose head is not written yet. */
  private volatile long keptFrom;

  /** Numbers of the states that have or had a time to live; replaced as a whole. */
  private volatile BitSet timed = new BitSet();

  /**
   * Numbers of the states whose records with an empty key are blocks of trees; replaced as a whole.
   */
  private volatile BitSet trees = new BitSet();

  /** Readers of removed values, by incarnation. */
  private final ConcurrentHashMap<Long, List<Hold>> holds = new ConcurrentHashMap<>();

  private final ReferenceQueue<Object> ended = new ReferenceQueue<>();

  private static final class Hold extends WeakReference<Object> {
    private final long incarnation;

    Hold(long incarnation, Object reader, ReferenceQueue<Object> ended) {
      super(reader, ended);
      this.incarnation = incarnation;
    }
  }

  /**
   * @param stateNames names of states by number
   */
  public ValueIncarnations(IntFunction<String> stateNames) {
    this.stateNames = stateNames;
  }

  public String stateName(int state) {
    return stateNames.apply(state);
  }

  /** Continues the numbering of another store: later incarnations are {@code from} or above. */
  public void continueFrom(long from) {
    next = Math.max(next, from);
  }

  /** Called when the restore has written everything. */
  public void complete() {
    isComplete = true;
    written();
  }

  /** The next incarnation; all incarnations assigned so far are smaller. */
  public long next() {
    return next;
  }

  /** Assigns a new incarnation. Its parts stay until {@link #written}. */
  long take() {
    return next++;
  }

  /** Called before parts of an incarnation are written whose head may be absent. */
  public void writing(long incarnation) {
    if (incarnation < keptFrom) {
      keptFrom = incarnation;
    }
  }

  /** Called after the heads of all assigned incarnations were written. */
  public void written() {
    if (isComplete && keptFrom != next) {
      keptFrom = next;
    }
  }

  /** Keeps the parts of a value that is about to be removed while this reader is reachable. */
  public void hold(long incarnation, Object reader) {
    for (Object endedHold = ended.poll(); endedHold != null; endedHold = ended.poll()) {
      Hold hold = (Hold) endedHold;
      holds.computeIfPresent(hold.incarnation, (same, all) -> without(all, hold));
    }
    List<Hold> fresh = List.of(new Hold(incarnation, reader, ended));
    holds.merge(
        incarnation, fresh, (all, more) -> Stream.concat(all.stream(), more.stream()).toList());
  }

  private static @Nullable List<Hold> without(List<Hold> all, Hold endedHold) {
    List<Hold> left = all.stream().filter(hold -> hold != endedHold).toList();
    return left.isEmpty() ? null : left;
  }

  private boolean isHeld(long incarnation) {
    List<Hold> all = holds.get(incarnation);
    return all != null && all.stream().anyMatch(hold -> hold.get() != null);
  }

  /** Whether compaction must keep all parts: there are none, or some heads are not written yet. */
  public boolean keepsAll() {
    return keptFrom <= FIRST;
  }

  /**
   * Whether the parts of an incarnation may be dropped.
   *
   * @param head reads the incarnation of their head again
   */
  public boolean mayBeDropped(long incarnation, LongSupplier head) {
    // The order matters: a writer lowers keptFrom or adds a hold before it writes the head.
    return incarnation < keptFrom && incarnation != head.getAsLong() && !isHeld(incarnation);
  }

  /** Notes that a state has or had a time to live, so any of its parts may be missing. */
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

  /** Notes that a state is a timer queue. */
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
