package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.J_Result;

/** An in-place increment, and one that copies the value and seals the old record. */
@JCStressTest
@Outcome(id = "2", expect = ACCEPTABLE, desc = "both counted")
@Outcome(expect = FORBIDDEN, desc = "an increment went to a record that had already been copied")
@State
public class SealedRecordNeverLosesAnIncrement {
  private static final Pool<CopiedCounter> POOL = new Pool<>(CopiedCounter::new);

  private final CopiedCounter counter = POOL.take().reset();

  @Actor
  public void inPlace() {
    counter.incrementInPlace();
  }

  @Actor
  public void byCopy() {
    counter.incrementByCopy();
  }

  @Arbiter
  public void after(J_Result result) {
    result.r1 = counter.count();
    POOL.give(counter);
  }
}
