package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Two threads create an entry for one tag while an entry before the free slots is freed. */
@JCStressTest
@Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "one entry, both records in its chain")
@Outcome(expect = FORBIDDEN, desc = "a tag has two entries, or a record is lost")
@State
public class IndexTagNeverHasTwoEntries {
  private static final Pool<TinyIndex> POOL = new Pool<>(arena -> new TinyIndex(arena, 0));

  private final TinyIndex index = POOL.take();

  public IndexTagNeverHasTwoEntries() {
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
