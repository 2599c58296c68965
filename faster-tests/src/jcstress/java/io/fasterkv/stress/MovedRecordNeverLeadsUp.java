package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** Compaction moves a record to the top of a chain while records of other keys are added. */
@JCStressTest
@Outcome(id = SharedChain.WHOLE, expect = ACCEPTABLE, desc = "each record leads to an older one")
@Outcome(expect = FORBIDDEN, desc = "a record was lost, or will be once the begin address moves")
@State
public class MovedRecordNeverLeadsUp {
  private static final Pool<SharedChain> POOL = new Pool<>(SharedChain::new);

  private final SharedChain chain = POOL.take().reset();

  @Actor
  public void moves() {
    chain.move();
  }

  @Actor
  public void inserts() {
    chain.insert();
  }

  @Arbiter
  public void after(L_Result result) {
    result.r1 = chain.defect();
    POOL.give(chain);
  }
}
