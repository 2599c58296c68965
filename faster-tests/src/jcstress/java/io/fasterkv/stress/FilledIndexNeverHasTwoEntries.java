package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Two threads of a replay add records of one tag, each after adding a tag of its own. */
@JCStressTest
@Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "one entry, which leads to the newest record")
@Outcome(expect = FORBIDDEN, desc = "a tag has two entries, or leads to an older record")
@State
public class FilledIndexNeverHasTwoEntries {
  private static final Pool<TinyIndex> POOL = new Pool<>(arena -> new TinyIndex(arena, 0));

  private final TinyIndex index = POOL.take();

  public FilledIndexNeverHasTwoEntries() {
    index.reset(2);
  }

  @Actor
  public void addsNewest() {
    index.fill(2);
  }

  @Actor
  public void addsOlder() {
    index.fill(1);
  }

  @Arbiter
  public void after(II_Result result) {
    result.r1 = index.entriesOfTag();
    result.r2 = index.newest();
    POOL.give(index);
  }
}
