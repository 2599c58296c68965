package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fasterkv.epoch.EpochWait;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * A protected reader, and a thread that waits for users without a trigger action, as closing does.
 */
@JCStressTest
@Outcome(
    id = {"pointer gone, freed", "alive, freed"},
    expect = ACCEPTABLE,
    desc = "read before or after the free")
@Outcome(expect = FORBIDDEN, desc = "freed under a protected reader")
@State
public class ClosedMemoryHasNoReader {
  private static final Pool<GuardedCell> CELLS = new Pool<>(GuardedCell::new);

  private final GuardedCell cell = CELLS.take().reset();

  @Actor
  public void reader(LL_Result result) {
    cell.user().protect();
    result.r1 = cell.read();
    cell.user().unprotect();
  }

  @Actor
  public void closer() {
    cell.hide();
    cell.epochs().awaitUsers(new EpochWait(cell.epochs(), () -> "the reader"));
    cell.free();
  }

  @Arbiter
  public void after(LL_Result result) {
    result.r2 = cell.isFreed() ? "freed" : "not freed";
    CELLS.give(cell);
  }
}
