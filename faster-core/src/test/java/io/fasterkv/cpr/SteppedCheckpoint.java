package io.fasterkv.cpr;

import io.fasterkv.Insides;
import io.fasterkv.Pause;
import io.fasterkv.api.CheckpointRequest;
import io.fasterkv.cpr.CprStore.Commit;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.Phase;
import io.fasterkv.epoch.SystemState;
import io.fasterkv.operation.Engine;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A checkpoint on a thread of its own that stays in a phase until it is told to go on: it waits for
 * the epoch of the thread that steps, which operations of that thread do not change.
 */
final class SteppedCheckpoint {
  private final SystemState state;
  private final EpochUser user;
  private final Thread driver;
  private final AtomicReference<Commit> commit = new AtomicReference<>();
  private final AtomicReference<RuntimeException> failure = new AtomicReference<>();

  /** Begins; returns when operations are in PREPARE. */
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

  /** The phase that operations begin in now. */
  Phase phase() {
    return SystemState.phase(state.word());
  }

  /** Goes on until operations that begin are in a phase, and stays there. */
  void to(Phase wanted) {
    while (phase() != wanted) {
      Phase before = phase();
      user.refresh();
      awaitPhaseAfter(before);
    }
  }

  /** Goes on to the end. */
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
