package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** One thread adds records to a chain while another doubles the index, from PREPARE to the end. */
@JCStressTest
@Outcome(id = "16", expect = ACCEPTABLE, desc = "all records are in the chain")
@Outcome(expect = FORBIDDEN, desc = "a record was added to an entry that had already been moved")
@State
public class ResizeNeverLosesARecord {
  private static final Pool<ResizedIndex> POOL = new Pool<>(ResizedIndex::new);

  private final ResizedIndex index = POOL.take().reset();

  public ResizeNeverLosesARecord() {
    index.push(2);
  }

  @Actor
  public void pushes() {
    index.push(0);
  }

  @Actor
  public void grows() {
    index.grow(1);
  }

  @Arbiter
  public void after(I_Result result) {
    result.r1 = index.reachable();
    POOL.give(index);
  }
}
