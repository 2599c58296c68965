package io.fasterkv.operation;

import io.fasterkv.api.CommitPoint;
import io.fasterkv.api.SessionIdentity;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.VersionShift;
import io.fasterkv.epoch.Phase;
import io.fasterkv.epoch.SystemState;
import io.fasterkv.record.RecordInfo;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The version that a store is in, and the sessions that go from one to the next (CPR, section 6).
 * Who drives a shift changes the {@link #state()} and asks the sessions for their parts; operations
 * only look at the word. Safe for all threads.
 */
public final class StoreVersions {
  private final SystemState state;
  private final VersionShift shift;
  private final Set<Participant> participants = new LinkedHashSet<>();

  /** The commit point of each name whose session has ended, or was recovered and not resumed. */
  private final SortedMap<String, CommitPoint> ended;

  /** Every record of the version that a shift leads to lies here or above. */
  private volatile long start;

  /**
   * @param version the first version, 1 and above
   * @param recovered the points of sessions that may be resumed
   */
  public StoreVersions(VersionShift shift, long version, Map<String, CommitPoint> recovered) {
    this.shift = shift;
    state = new SystemState(version);
    ended = new TreeMap<>(recovered);
  }

  public SystemState state() {
    return state;
  }

  /** Whether operations mind versions now. */
  public boolean isShifting() {
    return SystemState.phase(state.word()).isShifting();
  }

  /** Tells where the next version begins, before a shift to it does. */
  public void beginAt(long address) {
    start = address;
  }

  long start() {
    return start;
  }

  boolean isFine() {
    return shift == VersionShift.FINE;
  }

  /**
   * Lets an operation that only moves records be of the current version; false while two are at
   * work, and it has to come again. The caller is protected.
   */
  boolean enterMove(Operation<?, ?, ?> op) {
    long word = state.word();
    if (SystemState.phase(word).isShifting()) {
      return false;
    }
    op.version.plain(RecordInfo.versionBits(SystemState.version(word)));
    return true;
  }

  /** Takes part from now on; see {@link #leave}. */
  synchronized Participant join(
      @Nullable SessionIdentity identity,
      ChainSteps.Stripe steps,
      @Nullable Handover<?, ?, ?> handover) {
    String name = identity == null ? null : identity.name();
    CommitPoint before = identity == null ? CommitPoint.NONE : before(identity);
    long version = SystemState.version(state.word());
    Participant joined = new Participant(name, steps, handover, before, version);
    participants.add(joined);
    return joined;
  }

  private CommitPoint before(SessionIdentity identity) {
    String name = identity.name();
    if (isActive(name)) {
      throw new BadConfig(
          "a session of that name is open: name=" + name + ", allowed=one at a time; close it");
    }
    CommitPoint last = last(name);
    if (last == null && identity.isResumed()) {
      throw new BadConfig(
          "there is no session to resume: name="
              + name
              + ", allowed="
              + names()
              + "; SessionIdentity.start begins a new one");
    }
    if (last != null && !identity.isResumed()) {
      throw new BadConfig(
          "a session of that name was there before: name="
              + name
              + ", serial="
              + last.serial()
              + "; resume it, or let the store forget it");
    }
    return last == null ? CommitPoint.NONE : last;
  }

  private boolean isActive(String name) {
    return participants.stream().anyMatch(other -> name.equals(other.name()) && !other.hasEnded());
  }

  /** Of a session that is not open: a later one of the name goes on after an earlier one. */
  private @Nullable CommitPoint last(String name) {
    CommitPoint last = ended.get(name);
    for (Participant other : participants) {
      if (name.equals(other.name())) {
        last = later(last == null ? CommitPoint.NONE : last, other.last());
      }
    }
    return last;
  }

  /** Combines the points of two lives of a session; the second knows what the first has left. */
  private static CommitPoint later(CommitPoint one, CommitPoint other) {
    return other.serial() >= one.serial() ? other : one;
  }

  private Set<String> names() {
    Set<String> names = new LinkedHashSet<>(ended.keySet());
    participants.stream()
        .filter(other -> other.name() != null && other.hasEnded())
        .forEach(other -> names.add(String.valueOf(other.name())));
    return names;
  }

  /** Ends a session's part; what it has done still counts for a shift that is under way. */
  synchronized void leave(Participant participant) {
    participant.end();
    // Only then may it have been in two versions, with its point not requested yet.
    Phase phase = SystemState.phase(state.word());
    boolean isAwaited = phase == Phase.IN_PROGRESS || phase == Phase.WAIT_PENDING;
    if (participant.name() == null || !isAwaited) {
      remove(participant);
    }
  }

  /** Undoes {@link #join} for a session without operations. */
  synchronized void withdraw(Participant participant) {
    participants.remove(participant);
  }

  private void remove(Participant participant) {
    if (!participants.contains(participant)) {
      return;
    }
    // This comes first: a failure must not lose the point.
    String name = participant.name();
    if (name != null) {
      ended.merge(name, participant.last(), StoreVersions::later);
    }
    participants.remove(participant);
  }

  /** Gives up what is known of a session that is not open; false if nothing is. */
  public synchronized boolean forget(String name) {
    if (isActive(name)) {
      throw new BadConfig("a session of that name is open: name=" + name + "; close it first");
    }
    boolean isKnown = ended.remove(name) != null;
    return participants.removeIf(other -> name.equals(other.name())) || isKnown;
  }

  /** Latches what is pending of {@code version}, so that nothing of the next goes before it. */
  public void latchPending(long version) {
    for (Participant participant : all()) {
      Handover<?, ?, ?> handover = participant.handover();
      if (handover != null) {
        handover.latchAll(version);
      }
    }
  }

  /** Ends what is pending of {@code version}, for the sessions, on this thread. */
  public void endPending(long version) {
    for (Participant participant : all()) {
      Handover<?, ?, ?> handover = participant.handover();
      if (handover != null) {
        handover.endAll(version, participant.failures());
      }
    }
  }

  /**
   * Lets what is still pending of {@code version} be of the next one: its own is over, and was not
   * committed.
   */
  public void releasePending(long version) {
    for (Participant participant : all()) {
      Handover<?, ?, ?> handover = participant.handover();
      if (handover != null) {
        handover.releaseAll(version);
      }
      participant.settle();
    }
  }

  /** From now on each session's operations belong to {@code next}; see {@link #points}. */
  public synchronized void crossAll(long next) {
    participants.forEach(participant -> participant.cross(next));
  }

  /**
   * The commit point of each named session in the versions before {@code next}. All sessions have
   * crossed to it, and no operation of earlier versions is pending.
   */
  public synchronized SortedMap<String, CommitPoint> points(long next) {
    SortedMap<String, CommitPoint> points = new TreeMap<>(ended);
    for (Participant participant : participants) {
      String name = participant.name();
      if (name != null && participant.isOlderThan(next)) {
        points.merge(name, participant.point(), StoreVersions::later);
      }
    }
    List.copyOf(participants).stream().filter(Participant::hasEnded).forEach(this::remove);
    return points;
  }

  private synchronized List<Participant> all() {
    return List.copyOf(participants);
  }
}
