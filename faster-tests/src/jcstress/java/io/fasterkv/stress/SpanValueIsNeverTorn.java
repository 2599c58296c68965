package io.fasterkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** A reader without a latch, and an in-place update that makes the value longer. */
@JCStressTest
@Outcome(
    id = {"old value, new value", "new value, new value"},
    expect = ACCEPTABLE,
    desc = "read before or after the update")
@Outcome(expect = FORBIDDEN, desc = "bytes of both values, or the length of the other value")
@State
public class SpanValueIsNeverTorn {
  private static final Pool<SharedValue> POOL = new Pool<>(SharedValue::new);

  private final SharedValue value = POOL.take().reset();

  @Actor
  public void reader(LL_Result result) {
    result.r1 = value.readConsistently();
  }

  @Actor
  public void updater() {
    value.update();
  }

  @Arbiter
  public void after(LL_Result result) {
    result.r2 = value.readConsistently();
    POOL.give(value);
  }
}
