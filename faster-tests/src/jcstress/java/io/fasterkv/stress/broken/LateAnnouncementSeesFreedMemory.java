package io.fasterkv.stress.broken;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fasterkv.stress.Pool;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** Shows why an announcement needs a full fence. */
@JCStressTest
@Outcome(
    id = {"pointer gone, freed", "alive, freed"},
    expect = ACCEPTABLE,
    desc = "read before or after the free")
@Outcome(
    id = "freed under the reader, freed",
    expect = ACCEPTABLE_INTERESTING,
    desc = "the fault to be detected")
@Outcome(expect = FORBIDDEN, desc = "any other result")
@State
public class LateAnnouncementSeesFreedMemory {
  private static final Pool<LateAnnouncement> POOL = new Pool<>(LateAnnouncement::new);

  private final LateAnnouncement epochs = POOL.take().reset();

  @Actor
  public void reader(LL_Result result) {
    result.r1 = epochs.read();
  }

  @Actor
  public void writer() {
    epochs.hideAndFree();
  }

  @Arbiter
  public void after(LL_Result result) {
    epochs.drain();
    result.r2 = epochs.isFreed() ? "freed" : "not freed";
    POOL.give(epochs);
  }
}
