package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Two insertions under a tag while its entry, which leads to a dropped chain, is freed. */
@JCStressTest
@Outcome(id = "2, 1", expect = ACCEPTABLE, desc = "both are present, the dropped ones are not")
@Outcome(expect = FORBIDDEN, desc = "a record was lost, or the tag has two entries")
@State
public class CleanedIndexNeverLosesARecord {
  private static final Pool<CleanedIndex> POOL = new Pool<>(CleanedIndex::new);

  private final CleanedIndex index = POOL.take().reset();

  @Actor
  public void inserts() {
    index.push(0);
  }

  @Actor
  public void cleansAndInserts() {
    index.clean();
    index.push(1);
  }

  @Arbiter
  public void after(II_Result result) {
    result.r1 = index.reachable();
    result.r2 = index.entries();
    POOL.give(index);
  }
}
