package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** Allocations of two kinds, and a fold-over, at the end of a page. */
@JCStressTest
@Outcome(id = CrowdedTail.SOUND, expect = ACCEPTABLE, desc = "each byte is one record's or a gap's")
@Outcome(expect = FORBIDDEN, desc = "handed out twice, across pages, or after a gap without an end")
@State
public class TailNeverHandsOutBytesTwice {
  private static final Pool<CrowdedLog> POOL = new Pool<>(CrowdedLog::new);

  private final CrowdedLog log = POOL.take().reset();

  @Actor
  public void allocates() {
    log.allocate(0);
  }

  @Actor
  public void foldsOverAndAllocatesWhatIsLeft() {
    log.foldOver(1);
    log.allocateUpTo(1);
  }

  @Arbiter
  public void after(L_Result result) {
    result.r1 = log.defect();
    POOL.give(log);
  }
}
