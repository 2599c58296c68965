package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJJ_Result;

/** Two actors set a key whose record is read-only, so that each appends one, and then read it. */
@JCStressTest
@Outcome(
    id = {"1, 2, 1", "1, 2, 2", "1, 1, 1", "2, 2, 2"},
    expect = ACCEPTABLE,
    desc = "one of the two was the last")
@Outcome(expect = FORBIDDEN, desc = "one was lost, or each overwrote the other")
@State
public class BlindUpsertsAgreeOnTheLast {
  private static final Pool<BatchedLongs> POOL = new Pool<>(BatchedLongs::new);

  private final BatchedLongs longs = POOL.take().reset();

  public BlindUpsertsAgreeOnTheLast() {
    longs.foldOver();
  }

  @Actor
  public void setsToOne(JJJ_Result result) {
    result.r1 = longs.setAndRead(true, 1);
  }

  @Actor
  public void setsToTwo(JJJ_Result result) {
    result.r2 = longs.setAndRead(false, 2);
  }

  @Arbiter
  public void after(JJJ_Result result) {
    result.r3 = longs.value();
    POOL.give(longs);
  }
}
