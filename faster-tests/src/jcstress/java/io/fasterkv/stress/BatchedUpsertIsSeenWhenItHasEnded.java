package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/**
 * One actor sets a key in a batch and then reads a word outside the store; the other sets that word
 * and then reads the key.
 */
@JCStressTest
@Outcome(
    id = {"0, 1", "1, 0", "1, 1"},
    expect = ACCEPTABLE,
    desc = "the second actor saw the first one's write")
@Outcome(expect = FORBIDDEN, desc = "the batch had ended, but its writes were not visible")
@State
public class BatchedUpsertIsSeenWhenItHasEnded {
  private static final Pool<BatchedLongs> POOL = new Pool<>(BatchedLongs::new);

  private final BatchedLongs longs = POOL.take().reset();
  private final AtomicLong elsewhere = new AtomicLong();

  @Actor
  public void setsInABatch(JJ_Result result) {
    longs.upsertInBatch();
    result.r1 = elsewhere.getAcquire();
  }

  @Actor
  public void reads(JJ_Result result) {
    elsewhere.set(1);
    result.r2 = longs.value();
  }

  @Arbiter
  public void after(JJ_Result result) {
    POOL.give(longs);
  }
}
