package io.fasterkv.inject;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Runs the workload repeatedly, each time with an Error at another point. */
final class Campaign {
  static final List<Class<? extends Error>> ERRORS =
      List.of(OutOfMemoryError.class, StackOverflowError.class, AssertionError.class);

  private static final int MOST_TIMES = 60;

  /** For runs without an Error: their first calls load classes, and nothing in them hangs. */
  private static final long QUIET_BOUND_MILLIS = TimeUnit.MINUTES.toMillis(10);

  private final long seed;
  private final long boundMillis;
  private final UnaryOperator<byte[]> variant;
  private final Points points = new Points();
  private final Counts counts = new Counts();
  private final SplittableRandom random;

  /** The number of visits of each point, by setting and point. */
  private final List<int[]> visits = new ArrayList<>();

  /** Null after a run that hung: the threads of that run still use its classes. */
  private @Nullable Trials trials;

  /**
   * @param boundMillis how long a call may take after an Error
   * @param variant changes the store's classes
   */
  Campaign(long seed, long boundMillis, UnaryOperator<byte[]> variant) {
    this.seed = seed;
    this.boundMillis = boundMillis;
    this.variant = variant;
    random = new SplittableRandom(seed);
  }

  Counts counts() {
    return counts;
  }

  /** Counts the visits of all points without throwing; returns the faults. */
  List<String> explore() {
    List<String> faults = new ArrayList<>();
    for (int setting = 0; setting < Setting.COUNT; setting++) {
      faults.addAll(explore(setting));
    }
    for (int point = 0; point < points.count(); point++) {
      if (setting(point) >= 0) {
        counts.point(points.get(point));
      }
    }
    return faults;
  }

  /** Like {@link #explore()}, in one setting; call it in the order of the settings. */
  List<String> explore(int setting) {
    Report report = run(quiet(setting));
    visits.add(report.visits());
    return report.faults();
  }

  /** All points that are visited, in an order that depends on the seed and their names. */
  List<Integer> visited() {
    List<Integer> visited = new ArrayList<>();
    for (int point = 0; point < points.count(); point++) {
      if (setting(point) >= 0) {
        visited.add(point);
      }
    }
    visited.sort(Comparator.comparingLong(this::place));
    return visited;
  }

  private long place(int point) {
    return new SplittableRandom(seed ^ (long) points.get(point).toString().hashCode() << 16)
        .nextLong();
  }

  /**
   * Throws at the first visits, in one setting, of each point whose name matches.
   *
   * @return the number of runs
   */
  int each(String pattern, int setting, int visitsEach, Consumer<String> faults) {
    int runs = 0;
    for (int point : visited()) {
      String name = points.get(point).toString();
      int most = name.matches(pattern) ? Math.min(visitsEach, visits.get(setting)[point]) : 0;
      for (int visit = 1; visit <= most; visit++) {
        Class<? extends Error> error = ERRORS.get(visit % ERRORS.size());
        replay(new Replay(name, setting, visit, 1, error), faults);
        runs++;
      }
    }
    return runs;
  }

  Point point(int number) {
    return points.get(number);
  }

  /** A setting in which a point is visited, or -1. */
  private int setting(int point) {
    int from = random.nextInt(visits.size());
    for (int i = 0; i < visits.size(); i++) {
      int setting = (from + i) % visits.size();
      if (visits.get(setting)[point] > 0) {
        return setting;
      }
    }
    return -1;
  }

  /** Throws once at a point, at a random one of its visits. */
  void once(int point, Consumer<String> faults) {
    int setting = setting(point);
    int most = visits.get(setting)[point];
    Replay replay =
        new Replay(
            points.get(point).toString(),
            setting,
            1 + random.nextInt(1 + random.nextInt(most)),
            1,
            ERRORS.get(random.nextInt(ERRORS.size())));
    replay(replay, faults);
  }

  /** Throws an OutOfMemoryError at every allocation for a limited number of visits. */
  void storm(Consumer<String> faults) {
    int setting = random.nextInt(Setting.COUNT);
    long all = 0;
    for (int point = 0; point < points.count(); point++) {
      all += isAllocation(point) ? visits.get(setting)[point] : 0;
    }
    Replay replay =
        new Replay(
            Replay.EVERY_ALLOCATION,
            setting,
            1 + random.nextLong(all),
            1 + random.nextInt(1 + random.nextInt(MOST_TIMES)),
            OutOfMemoryError.class);
    replay(replay, faults);
  }

  /** Replays a run; if no thread reached the visit, the run is repeated with the first visit. */
  void replay(Replay replay, Consumer<String> faults) {
    IntPredicate hits =
        replay.point().equals(Replay.EVERY_ALLOCATION) ? allocations() : named(replay.point());
    Order order = order(replay, hits, replay.visit());
    Report report = run(order);
    if (report.thrown() == 0 && report.faults().isEmpty()) {
      order = order(replay, hits, 1);
      report = run(order);
    }
    counts.add(order, report);
    for (String fault : report.faults()) {
      faults.accept("-Dfaster.seed=" + seed + " " + replay + "\n" + fault);
    }
  }

  private Order order(Replay replay, IntPredicate hits, long visit) {
    return new Order(
        seed, replay.setting(), replay.error(), hits, visit, replay.times(), boundMillis);
  }

  private IntPredicate allocations() {
    BitSet allocations = new BitSet();
    for (int point = 0; point < points.count(); point++) {
      allocations.set(point, isAllocation(point));
    }
    return allocations::get;
  }

  private IntPredicate named(String name) {
    int number = points.find(name);
    return point -> point == number;
  }

  private boolean isAllocation(int point) {
    return points.get(point).kind() == Point.Kind.NEW;
  }

  private Order quiet(int setting) {
    return new Order(seed, setting, Error.class, point -> false, 0, 0, QUIET_BOUND_MILLIS);
  }

  private Report run(Order order) {
    if (trials == null) {
      trials = anew();
    }
    Report report = trials.run(order);
    if (report.hangs()) {
      trials.abandon();
      trials = null;
    }
    return report;
  }

  /**
   * Loads and initializes the classes again: a class whose initialization fails remains unusable.
   * No thread of these runs is left: it would take the Error that the next run is to meet.
   */
  private Trials anew() {
    Trials fresh = new InjectedClasses(points, variant).trials();
    for (int setting = 0; setting < visits.size(); setting++) {
      List<String> faults = fresh.run(quiet(setting)).faults();
      if (!faults.isEmpty()) {
        throw new AssertionError("without any Error: " + faults);
      }
    }
    return fresh;
  }
}
