package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LJJ_Result;

/**
 * One actor sets a key to one in a batch, the other deletes and reads it; checks the final value.
 */
@JCStressTest
@Outcome(
    id = {"UPDATED_IN_PLACE, -1, -1", "COPIED, -1, -1"},
    expect = ACCEPTABLE,
    desc = "set, deleted, read")
@Outcome(
    id = {"CREATED, 1, 1", "COPIED, 1, 1"},
    expect = ACCEPTABLE,
    desc = "deleted, set, read")
@Outcome(
    id = {"CREATED, -1, 1", "COPIED, -1, 1"},
    expect = ACCEPTABLE,
    desc = "deleted, read, set")
@Outcome(expect = FORBIDDEN, desc = "no order of the operations explains this")
@State
public class BatchedUpsertNeverContradictsADelete {
  private static final Pool<BatchedLongs> POOL = new Pool<>(BatchedLongs::new);

  private final BatchedLongs longs = POOL.take().reset();

  @Actor
  public void setsInABatch(LJJ_Result result) {
    result.r1 = longs.upsertInBatch();
  }

  @Actor
  public void deletesAndReads(LJJ_Result result) {
    longs.delete();
    result.r2 = longs.value();
  }

  @Arbiter
  public void after(LJJ_Result result) {
    result.r3 = longs.value();
    POOL.give(longs);
  }
}
