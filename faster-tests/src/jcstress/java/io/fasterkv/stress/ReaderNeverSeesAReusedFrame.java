package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** A protected reader of a record, and a writer that needs its frame for another page. */
@JCStressTest
@Outcome(
    id = {"in memory, evicted", "on disk, evicted"},
    expect = ACCEPTABLE,
    desc = "read before or after the eviction")
@Outcome(expect = FORBIDDEN, desc = "cleared under a protected reader, or never")
@State
public class ReaderNeverSeesAReusedFrame {
  private static final Pool<EvictedRecord> POOL = new Pool<>(EvictedRecord::new);

  private final EvictedRecord record = POOL.take().reset();

  @Actor
  public void reads(LL_Result result) {
    result.r1 = record.read();
  }

  @Actor
  public void evicts() {
    record.evict();
  }

  @Arbiter
  public void after(LL_Result result) {
    result.r2 = record.isEvicted() ? "evicted" : "there";
    POOL.give(record);
  }
}
