package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fasterkv.epoch.Epochs;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** Two threads bump the epoch while a third drains; the drain may advance the epoch for them. */
@JCStressTest
@Outcome(id = "1, 1, 2", expect = ACCEPTABLE, desc = "each action ran once, in an epoch of its own")
@Outcome(expect = FORBIDDEN, desc = "an action was lost or ran twice, or an epoch has no action")
@State
public class ConcurrentBumpsNeverLoseAnAction {
  private final Epochs epochs =
      new Epochs(
          1,
          failure -> {
            throw new AssertionError("the action failed", failure);
          });
  private final AtomicInteger first = new AtomicInteger();
  private final AtomicInteger second = new AtomicInteger();

  @Actor
  public void one() {
    epochs.bump(first::incrementAndGet);
  }

  @Actor
  public void other() {
    epochs.bump(second::incrementAndGet);
  }

  @Actor
  public void drainer() {
    epochs.drain();
  }

  @Arbiter
  public void after(III_Result result) {
    epochs.drain();
    result.r1 = first.get();
    result.r2 = second.get();
    result.r3 = (int) epochs.currentEpoch() - 1;
  }
}
