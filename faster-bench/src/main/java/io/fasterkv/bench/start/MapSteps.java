package io.fasterkv.bench.start;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A map of the JDK: the least that access can cost. */
final class MapSteps implements Steps {
  private final int calls;
  private final Map<Long, Long> map = new HashMap<>();

  MapSteps(StartPlan plan) {
    calls = plan.calls();
  }

  @Override
  public List<Step> all() {
    return List.of(
        new Step(StartPlan.FIRST_RMWS, this::rmw),
        new Step(StartPlan.FIRST_READS, () -> read(1)),
        new Step(StartPlan.MORE_RMWS, this::rmw),
        new Step(StartPlan.MORE_READS, () -> read(2)));
  }

  private void rmw() {
    for (long key = 0; key < calls; key++) {
      map.merge(key, 1L, Long::sum);
    }
  }

  private void read(int passes) {
    long sum = 0;
    for (long key = 0; key < calls; key++) {
      sum += map.getOrDefault(key, 0L);
    }
    Steps.check(sum, calls, passes);
  }

  @Override
  public void close() {}
}
