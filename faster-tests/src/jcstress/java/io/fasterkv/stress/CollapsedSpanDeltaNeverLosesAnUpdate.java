package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.J_Result;

/** In-place updates of a delta, and a collapse that replaces it with the whole value. */
@JCStressTest
@Outcome(id = "4", expect = ACCEPTABLE, desc = "each update counted once")
@Outcome(expect = FORBIDDEN, desc = "an update was lost in a merged delta, or counted twice")
@State
public class CollapsedSpanDeltaNeverLosesAnUpdate {
  private static final Pool<CollapsedCounter> POOL = new Pool<>(CollapsedCounter::spans);

  private final CollapsedCounter counter = POOL.take().reset();

  @Actor
  public void inPlace() {
    counter.add();
  }

  @Actor
  public void collapses() {
    counter.collapse();
  }

  @Arbiter
  public void after(J_Result result) {
    result.r1 = counter.sum();
    POOL.give(counter);
  }
}
