package io.fasterkv.cpr;

import io.fasterkv.api.checkpoint.CommitPoint;
import io.fasterkv.cpr.CprStore.Commit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * The events that one session must issue once each. It remembers the serial number of each event
 * and follows the rules of {@link CommitPoint}.
 */
final class EventSource {
  static final int KEYS = 120;
  private static final int MOST_ATTEMPTS = 20;

  private final int number;
  private final SplittableRandom random;
  private final List<Event> events = new ArrayList<>();

  /** The position of the event in the list, by serial number. */
  private final NavigableMap<Long, Integer> issued = new TreeMap<>();

  /**
   * By serial number of a failed operation: the last serial number when the failure was reported.
   */
  private final NavigableMap<Long, Long> reported = new TreeMap<>();

  /** Events to issue before all others. */
  private final Deque<Integer> again = new ArrayDeque<>();

  private long failures;

  private record Event(long key, long stamp) {}

  EventSource(int number, SplittableRandom random) {
    this.number = number;
    this.random = random;
  }

  int number() {
    return number;
  }

  long failures() {
    return failures;
  }

  /** Issues the next event, or repeats one. */
  void next(FlakySession session) {
    if (again.isEmpty()) {
      events.add(new Event(random.nextInt(KEYS), random.nextLong() | 1));
      again.add(events.size() - 1);
    }
    issueAgain(session);
  }

  /** Whether the session accepted the event. */
  private boolean issueAgain(FlakySession session) {
    int place = again.getFirst();
    Event event = events.get(place);
    boolean isAccepted = session.add(event.key(), event.stamp());
    if (isAccepted) {
      again.removeFirst();
      issued.put(session.serial(), place);
    }
    return isAccepted;
  }

  /**
   * Completes pending operations, and repeats each failed one as the next operation after its
   * report.
   *
   * @param calm makes the session accept all later operations
   */
  void drain(FlakySession session, Runnable calm) {
    int attempts = 0;
    while (again.isEmpty() || issueAgain(session)) {
      if (again.isEmpty() && !takeFailure(session)) {
        return;
      }
      attempts++;
      if (session.hasFailures() || attempts > MOST_ATTEMPTS) {
        // The next operation settles all reported failures: no checkpoint may be taken before all
        // are repeated.
        calm.run();
      }
    }
  }

  private boolean takeFailure(FlakySession session) {
    Long serial = session.nextFailure();
    if (serial == null) {
      return false;
    }
    failures++;
    reported.put(serial, session.serial());
    again.add(issued.get(serial));
    return true;
  }

  /**
   * After a recovery: issues the events that the store does not have. User functions do not throw.
   */
  void replay(FlakySession session, CommitPoint point) {
    issued.tailMap(point.serial(), false).clear();
    reported.tailMap(point.serial(), false).clear();
    Set<Integer> missing = new HashSet<>();
    for (int place = 0; place < events.size(); place++) {
      missing.add(place);
    }
    missing.removeAll(issued.values());
    point.excluded().forEach(serial -> missing.add(issued.get(serial)));
    again.clear();
    again.addAll(missing);
    // These failures count as reported and settled.
    point.excluded().forEach(serial -> reported.put(serial, point.serial()));
    while (!again.isEmpty()) {
      if (!issueAgain(session)) {
        throw new AssertionError("a session refuses an event, and has no reason to");
      }
    }
  }

  /** Adds up all events. */
  void addAllTo(Map<Long, Long> sums) {
    events.forEach(event -> sums.merge(event.key(), event.stamp(), Long::sum));
  }

  /** Adds up the events that the store must have after a commit; null is the empty store. */
  void addTo(Map<Long, Long> sums, Commit commit) {
    CommitPoint point = point(commit);
    reported
        .headMap(point.serial(), true)
        .forEach((serial, last) -> {
          boolean isListed = point.excluded().contains(serial);
          if (isListed != (last >= point.serial())) {
            throw new AssertionError(
                "operation "
                    + serial
                    + (isListed ? " is excluded" : " is not excluded")
                    + ", reported after "
                    + last
                    + ": "
                    + point);
          }
        });
    issued
        .headMap(point.serial(), true)
        .forEach((serial, place) -> {
          if (point.has(serial) && !reported.containsKey(serial)) {
            Event event = events.get(place);
            sums.merge(event.key(), event.stamp(), Long::sum);
          }
        });
  }

  CommitPoint point(Commit commit) {
    return commit == null
        ? CommitPoint.NONE
        : commit.points().getOrDefault(CprStore.name(number), CommitPoint.NONE);
  }
}
