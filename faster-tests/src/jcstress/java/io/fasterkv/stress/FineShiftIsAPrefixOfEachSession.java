package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fasterkv.api.config.VersionShift;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** Two sessions update a record in place while a fold-over moves the store to its next version. */
@JCStressTest
@Outcome(
    id = ShiftedCounter.SOUND,
    expect = ACCEPTABLE,
    desc = "the old version matches the commit points, and nothing is lost")
@Outcome(expect = FORBIDDEN, desc = "an update is lost, or in the wrong version")
@State
public class FineShiftIsAPrefixOfEachSession {
  private static final Pool<ShiftedCounter> POOL =
      new Pool<>(arena -> new ShiftedCounter(arena, VersionShift.FINE, false));

  private final ShiftedCounter counter = POOL.take().reset();

  @Actor
  public void adds() {
    counter.add();
  }

  @Actor
  public void shiftsAndAdds() {
    counter.shiftAndAdd();
  }

  @Arbiter
  public void after(L_Result result) {
    result.r1 = counter.defect();
    POOL.give(counter);
  }
}
