package io.fasterkv.cpr;

import io.fasterkv.Insides;
import io.fasterkv.Pause;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.cpr.CprStore.Commit;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.state.Phase;
import io.fasterkv.state.SystemState;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A checkpoint on its own thread that a test advances phase by phase. Between two steps it waits
 * for the epoch of the stepping thread, which that thread's operations do not change.
 */
final class SteppedCheckpoint {
  private final SystemState state;
  private final EpochUser user;
  private final Thread driver;
  private final AtomicReference<Commit> commit = new AtomicReference<>();
  private final AtomicReference<RuntimeException> failure = new AtomicReference<>();

  /** Begins the checkpoint; returns when operations are in PREPARE. */
  SteppedCheckpoint(CprStore store, CheckpointRequest request) {
    Engine engine = Insides.engine(store.store());
    state = engine.versions().state();
    user = engine.epochs().register();
    user.protect();
    driver =
        Pause.begin(() -> {
          try {
            commit.set(store.checkpoint(request));
          } catch (RuntimeException e) {
            failure.set(e);
          }
        });
    awaitPhaseAfter(Phase.REST);
  }

  /** The phase in which operations now begin. */
  Phase phase() {
    return SystemState.phase(state.word());
  }

  /** Advances until operations begin in the given phase, and stops there. */
  void to(Phase wanted) {
    while (phase() != wanted) {
      Phase before = phase();
      user.refresh();
      awaitPhaseAfter(before);
    }
  }

  /** Advances to the end. */
  Commit finish() {
    user.unprotect();
    user.close();
    Pause.join(driver);
    if (failure.get() != null) {
      throw failure.get();
    }
    return commit.get();
  }

  private void awaitPhaseAfter(Phase before) {
    while (phase() == before) {
      if (!driver.isAlive()) {
        throw new AssertionError("the checkpoint has ended in " + before, failure.get());
      }
      Thread.onSpinWait();
    }
    Pause.awaitWaiting(driver);
  }
}
