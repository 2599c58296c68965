package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * A live thread reuses the epoch user of a thread that has ended. Meanwhile another thread reclaims
 * the user's slot because the first thread has ended, and frees memory that the user may be
 * reading.
 */
@JCStressTest
@Outcome(
    id = {"pointer gone, freed", "alive, freed"},
    expect = ACCEPTABLE,
    desc = "read before or after the free")
@Outcome(expect = FORBIDDEN, desc = "a live user lost its protection")
@State
public class RevivedUserNeverLosesItsProtection {
  private static final Pool<GuardedCell> CELLS = new Pool<>(GuardedCell::new);

  private final GuardedCell cell = CELLS.take().reset().orphan();

  @Actor
  public void reader(LL_Result result) {
    cell.user().protect();
    result.r1 = cell.read();
    cell.user().unprotect();
  }

  @Actor
  public void writer() {
    cell.hide();
    cell.epochs().reclaim();
    cell.epochs().bump(cell::free);
  }

  @Arbiter
  public void after(LL_Result result) {
    cell.epochs().drain();
    result.r2 = cell.isFreed() ? "freed" : "not freed";
    CELLS.give(cell);
  }
}
