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
 * A reopened chain with two free entries. Two threads add records of a tag that has shared an
 * entry, a third one of the tag in it.
 */
@JCStressTest
@Outcome(id = "1, 3", expect = ACCEPTABLE, desc = "the tag has an entry; all records in its chain")
@Outcome(expect = FORBIDDEN, desc = "a tag has two entries, or a record is lost")
@State
public class ReopenedIndexNeverLosesARecord {
  private static final Pool<TinyIndex> POOL = new Pool<>(arena -> new TinyIndex(arena, 1));

  private final TinyIndex index = POOL.take();

  public ReopenedIndexNeverLosesARecord() {
    index.reset(12);
    index.saturate();
    index.reopen();
  }

  @Actor
  public void pushesTwoTags() {
    index.pushOther();
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
