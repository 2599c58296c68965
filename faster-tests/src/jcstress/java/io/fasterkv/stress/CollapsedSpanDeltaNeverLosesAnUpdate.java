package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.J_Result;

/** Updates of a delta in place, and a collapse that puts the whole value in its place. */
@JCStressTest
@Outcome(id = "4", expect = ACCEPTABLE, desc = "all counted, once")
@Outcome(expect = FORBIDDEN, desc = "an update went to a delta that was merged already, or twice")
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
