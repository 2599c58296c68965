package io.fasterkv.stress.broken;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fasterkv.stress.Pool;
import io.fasterkv.stress.SharedValue;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** Shows why a reader must check the state word again. */
@JCStressTest
@Outcome(
    id = {"old value, new value", "new value, new value"},
    expect = ACCEPTABLE,
    desc = "read before or after the update")
@Outcome(
    id = "torn value, new value",
    expect = ACCEPTABLE_INTERESTING,
    desc = "the fault to be detected")
@Outcome(expect = FORBIDDEN, desc = "any other result")
@State
public class ReaderWithoutSecondLookSeesTornValue {
  private static final Pool<SharedValue> POOL = new Pool<>(SharedValue::new);

  private final SharedValue value = POOL.take().reset();

  @Actor
  public void reader(LL_Result result) {
    result.r1 = value.readOnce();
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
