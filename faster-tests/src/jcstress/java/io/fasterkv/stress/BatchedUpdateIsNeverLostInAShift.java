package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.J_Result;

/** Batched updates of a record that becomes read-only while another thread updates it. */
@JCStressTest
@Outcome(id = "4", expect = ACCEPTABLE, desc = "all updates counted")
@Outcome(expect = FORBIDDEN, desc = "an update went to a record that had already been copied")
@State
public class BatchedUpdateIsNeverLostInAShift {
  private static final Pool<BatchedLongs> POOL = new Pool<>(BatchedLongs::new);

  private final BatchedLongs longs = POOL.take().reset();

  @Actor
  public void addsInABatch() {
    longs.addInBatch();
  }

  @Actor
  public void foldsOverAndAdds() {
    longs.foldOver();
    longs.add();
  }

  @Arbiter
  public void after(J_Result result) {
    result.r1 = longs.value();
    POOL.give(longs);
  }
}
