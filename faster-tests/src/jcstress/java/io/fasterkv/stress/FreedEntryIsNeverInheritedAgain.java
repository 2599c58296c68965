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
 * A tag that inherits gets an entry of its own, which is freed when the log has dropped what it
 * inherits. Another thread adds a record to what it has inherited before.
 */
@JCStressTest
@Outcome(id = "0, 3", expect = ACCEPTABLE, desc = "the other record came on top; nothing was freed")
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the entry was freed")
@Outcome(expect = FORBIDDEN, desc = "a record was added to a chain that has ended")
@State
public class FreedEntryIsNeverInheritedAgain {
  private static final Pool<TinyIndex> POOL = new Pool<>(arena -> new TinyIndex(arena, 1));

  private final TinyIndex index = POOL.take();

  public FreedEntryIsNeverInheritedAgain() {
    index.reset(12);
    index.saturate();
    index.reopen();
  }

  @Actor
  public void pushesOnce() {
    index.tryPush(1);
  }

  @Actor
  public void pushesAndFrees(II_Result result) {
    index.push(2);
    result.r1 = index.dropAndRemove(2) ? 1 : 0;
  }

  @Arbiter
  public void after(II_Result result) {
    result.r2 = index.reachable();
    POOL.give(index);
  }
}
