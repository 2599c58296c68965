package io.fasterkv.operation.version;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.checkpoint.CommitPoint;
import io.fasterkv.api.config.VersionShift;
import io.fasterkv.api.session.SessionIdentity;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.state.Phase;
import io.fasterkv.state.SystemState;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The store's version, and the sessions that move from one version to the next (CPR, section 6).
 * The thread that drives a shift changes the {@link #state()} and asks the sessions for their
 * parts; operations only read the word. Safe for all threads.
 */
public final class StoreVersions {
  private final SystemState state;
  private final VersionShift shift;
  private final Set<SessionVersion> sessions = new LinkedHashSet<>();

  /** The commit point of each name whose session has ended, or was recovered and not resumed. */
  private final SortedMap<String, CommitPoint> ended;

  /** Every record of the version that a shift leads to is at or above this address. */
  private volatile long start;

  /**
   * @param version the first version, 1 or more
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

  /** Whether operations must respect versions now. */
  public boolean isShifting() {
    return SystemState.phase(state.word()).isShifting();
  }

  /** Sets where the next version begins, before a shift to it starts. */
  public void beginAt(long address) {
    start = address;
  }

  public long start() {
    return start;
  }

  public boolean isFine() {
    return shift == VersionShift.FINE;
  }

  /**
   * Makes an operation that only moves records belong to the current version; returns false during
   * a version shift, when the operation must retry. The caller must be protected.
   */
  public boolean enterMove(AttemptVersion version) {
    long word = state.word();
    if (SystemState.phase(word).isShifting()) {
      return false;
    }
    version.plain(RecordInfo.versionBits(SystemState.version(word)));
    return true;
  }

  /** Registers a session; see {@link #leave}. */
  public synchronized SessionVersion join(
      @Nullable SessionIdentity identity,
      SessionCounters.Stripe counters,
      SessionVersion.@Nullable Pending pending) {
    String name = identity == null ? null : identity.name();
    CommitPoint before = identity == null ? CommitPoint.NONE : before(identity);
    long version = SystemState.version(state.word());
    SessionVersion joined = new SessionVersion(name, counters, pending, before, version);
    sessions.add(joined);
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
    return sessions.stream().anyMatch(other -> name.equals(other.name()) && !other.hasEnded());
  }

  /**
   * The point of a session that is not open: a later session with the name continues an earlier
   * one.
   */
  private @Nullable CommitPoint last(String name) {
    CommitPoint last = ended.get(name);
    for (SessionVersion other : sessions) {
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
    sessions.stream()
        .filter(other -> other.name() != null && other.hasEnded())
        .forEach(other -> names.add(String.valueOf(other.name())));
    return names;
  }

  /** Ends a session's registration; a shift in progress still counts what it has done. */
  public synchronized void leave(SessionVersion sessionVersion) {
    sessionVersion.end();
    // Only in these phases may it have been in two versions with its point not requested yet.
    Phase phase = SystemState.phase(state.word());
    boolean isAwaited = phase == Phase.IN_PROGRESS || phase == Phase.WAIT_PENDING;
    if (sessionVersion.name() == null || !isAwaited) {
      remove(sessionVersion);
    }
  }

  /** Undoes {@link #join} for a session without operations. */
  public synchronized void withdraw(SessionVersion sessionVersion) {
    sessions.remove(sessionVersion);
  }

  private void remove(SessionVersion sessionVersion) {
    if (!sessions.contains(sessionVersion)) {
      return;
    }
    // Read first: a failure must not lose the point.
    String name = sessionVersion.name();
    if (name != null) {
      ended.merge(name, sessionVersion.last(), StoreVersions::later);
    }
    sessions.remove(sessionVersion);
  }

  /** Removes what is known about a session that is not open; returns false if nothing is. */
  public synchronized boolean forget(String name) {
    if (isActive(name)) {
      throw new BadConfig("a session of that name is open: name=" + name + "; close it first");
    }
    boolean isKnown = ended.remove(name) != null;
    return sessions.removeIf(other -> name.equals(other.name())) || isKnown;
  }

  /**
   * Latches the pending updates of {@code version}, so that no operation of the next version
   * overtakes them.
   */
  public void latchPending(long version) {
    for (SessionVersion sessionVersion : all()) {
      SessionVersion.Pending pending = sessionVersion.pending();
      if (pending != null) {
        pending.latchAll(version);
      }
    }
  }

  /**
   * Completes the pending operations of {@code version} on behalf of their sessions, on this
   * thread.
   */
  public void endPending(long version) {
    for (SessionVersion sessionVersion : all()) {
      SessionVersion.Pending pending = sessionVersion.pending();
      if (pending != null) {
        pending.endAll(version, sessionVersion.failures());
      }
    }
  }

  /**
   * Lets updates of {@code version} that are still pending move to the next one: their own has
   * ended and was not committed.
   */
  public void releasePending(long version) {
    for (SessionVersion sessionVersion : all()) {
      SessionVersion.Pending pending = sessionVersion.pending();
      if (pending != null) {
        pending.releaseAll(version);
      }
      sessionVersion.settle();
    }
  }

  /** Makes each session's operations belong to {@code next} from now on; see {@link #points}. */
  public synchronized void crossAll(long next) {
    sessions.forEach(sessionVersion -> sessionVersion.cross(next));
  }

  /**
   * The commit point of each named session in the versions before {@code next}. All sessions have
   * crossed to it, and no operation of earlier versions is pending.
   */
  public synchronized SortedMap<String, CommitPoint> points(long next) {
    SortedMap<String, CommitPoint> points = new TreeMap<>(ended);
    for (SessionVersion sessionVersion : sessions) {
      String name = sessionVersion.name();
      if (name != null && sessionVersion.isOlderThan(next)) {
        points.merge(name, sessionVersion.point(), StoreVersions::later);
      }
    }
    List.copyOf(sessions).stream().filter(SessionVersion::hasEnded).forEach(this::remove);
    return points;
  }

  private synchronized List<SessionVersion> all() {
    return List.copyOf(sessions);
  }
}
