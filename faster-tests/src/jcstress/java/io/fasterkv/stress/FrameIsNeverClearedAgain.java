package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** Two threads turn pages while they and a third one clear frames for them. */
@JCStressTest
@Outcome(id = WrittenPages.SOUND, expect = ACCEPTABLE, desc = "all written bytes are present")
@Outcome(expect = FORBIDDEN, desc = "a frame was cleared after a page had started to use it")
@State
public class FrameIsNeverClearedAgain {
  private static final Pool<FilledPages> POOL = new Pool<>(FilledPages::new);

  private final FilledPages pages = POOL.take().reset();

  @Actor
  public void fills() {
    pages.fill(0);
  }

  @Actor
  public void fillsToo() {
    pages.fill(1);
  }

  @Arbiter
  public void after(L_Result result) {
    result.r1 = pages.defect();
    POOL.give(pages);
  }
}
