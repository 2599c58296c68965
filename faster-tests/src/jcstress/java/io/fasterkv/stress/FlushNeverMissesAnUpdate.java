package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** An update in place, and a fold-over that flushes the record. */
@JCStressTest
@Outcome(
    id = {"in place, new", "read-only, old"},
    expect = ACCEPTABLE,
    desc = "updated before the flush, or not in place")
@Outcome(expect = FORBIDDEN, desc = "the device has only half of the update, or none of it")
@State
public class FlushNeverMissesAnUpdate {
  private static final Pool<UpdatedRecord> POOL = new Pool<>(UpdatedRecord::new);

  private final UpdatedRecord record = POOL.take().reset();

  @Actor
  public void updates(LL_Result result) {
    result.r1 = record.update();
  }

  @Actor
  public void flushes() {
    record.flush();
  }

  @Arbiter
  public void after(LL_Result result) {
    result.r2 = record.written();
    POOL.give(record);
  }
}
