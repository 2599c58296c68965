package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.J_Result;

/** In-place updates, and an update that replaces their record with a longer one. */
@JCStressTest
@Outcome(id = "4", expect = ACCEPTABLE, desc = "all updates counted")
@Outcome(expect = FORBIDDEN, desc = "an update went to a record that had already been copied")
@State
public class OutgrownSpanNeverLosesAnUpdate {
  private static final Pool<OutgrownCounter> POOL = new Pool<>(OutgrownCounter::new);

  private final OutgrownCounter counter = POOL.take().reset();

  @Actor
  public void inPlace() {
    counter.add();
  }

  @Actor
  public void outgrows() {
    counter.addAndGrow();
  }

  @Arbiter
  public void after(J_Result result) {
    result.r1 = counter.sum();
    POOL.give(counter);
  }
}
