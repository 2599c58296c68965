package io.fasterkv.stress.broken;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fasterkv.stress.Pool;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Shows why an insert needs a second phase. */
@JCStressTest
@Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "one entry, both records in its chain")
@Outcome(id = "2, 1", expect = ACCEPTABLE_INTERESTING, desc = "the fault to be detected")
@Outcome(expect = FORBIDDEN, desc = "any other result")
@State
public class SinglePhaseInsertMakesTwoEntries {
  private static final Pool<SinglePhaseIndex> POOL = new Pool<>(SinglePhaseIndex::new);

  private final SinglePhaseIndex index = POOL.take();

  public SinglePhaseInsertMakesTwoEntries() {
    index.reset(2);
  }

  @Actor
  public void removesAndPushes() {
    index.removeFirst(1);
    index.push(1);
  }

  @Actor
  public void pushes() {
    index.push(2);
  }

  @Arbiter
  public void after(II_Result result) {
    result.r1 = index.entriesOfTag();
    result.r2 = index.reachable();
    POOL.give(index);
  }
}
