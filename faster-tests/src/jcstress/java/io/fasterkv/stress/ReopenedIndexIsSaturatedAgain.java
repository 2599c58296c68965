package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A reopened chain with one free entry, which one of two tags gets. The other finds the chain full,
 * and all share entries again.
 */
@JCStressTest
@Outcome(
    id = "0, 3",
    expect = ACCEPTABLE,
    desc = "the chain is saturated again: all share an entry")
@Outcome(id = "1, 3", expect = ACCEPTABLE, desc = "the tag got an entry of its own")
@Outcome(expect = FORBIDDEN, desc = "the tag's entry and the shared one hide records")
@State
public class ReopenedIndexIsSaturatedAgain {
  private static final Pool<TinyIndex> POOL = new Pool<>(arena -> new TinyIndex(arena, 1));

  private final TinyIndex index = POOL.take();

  public ReopenedIndexIsSaturatedAgain() {
    index.reset(13);
    index.saturate();
    index.reopen();
  }

  @Actor
  public void addsATagAndPushes() {
    index.addOther();
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
