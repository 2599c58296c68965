package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fasterkv.index.HashIndex.Transition;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Two operations need a chunk that has not been moved yet. */
@JCStressTest
@Outcome(id = "24, 1", expect = ACCEPTABLE, desc = "moved by one operation, with all records")
@Outcome(expect = FORBIDDEN, desc = "moved twice, or used before it was complete: a record is lost")
@State
public class ClaimedChunkIsMovedOnce {
  private static final Pool<ResizedIndex> POOL = new Pool<>(arena -> new ResizedIndex(arena, 2));

  private final ResizedIndex index = POOL.take().reset();
  private final Transition transition;

  public ClaimedChunkIsMovedOnce() {
    index.push(2);
    transition = index.beginAndVacate();
  }

  @Actor
  public void pushes() {
    index.push(0);
  }

  @Actor
  public void pushesToo() {
    index.push(1);
  }

  @Arbiter
  public void after(II_Result result) {
    index.end(transition, 0);
    result.r1 = index.reachable();
    result.r2 = index.moves();
    POOL.give(index);
  }
}
