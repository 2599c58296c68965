package io.fasterkv;

import io.fasterkv.epoch.EpochUser;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.state.Phase;
import io.fasterkv.state.SystemState;

/**
 * Holds a checkpoint in each of its phases for as long as a test needs. A protected user of the
 * epochs, like an operation that does not end, keeps the driver from entering the next phase.
 */
final class PhaseStepper implements AutoCloseable {
  private final Engine engine;
  private final Runnable checkpoint;
  private EpochUser holder;
  private Thread driver;

  PhaseStepper(FasterStore store, Runnable checkpoint) {
    engine = Insides.engine(store);
    this.checkpoint = checkpoint;
    holder = protectedUser();
  }

  /** Starts the checkpoint, or lets it continue, until it is in {@code phase}. */
  void goTo(Phase phase) {
    if (driver == null) {
      driver = Pause.begin(checkpoint);
    }
    for (Phase now = now(); now != phase; now = now()) {
      // A user that is protected during this phase delays the next one.
      EpochUser next = protectedUser();
      if (now() == now) {
        holder.close();
        holder = next;
      } else {
        next.close();
      }
      if (!driver.isAlive()) {
        throw new AssertionError("the checkpoint has ended: phase=" + now());
      }
      engine.epochs().drain();
    }
  }

  /** Lets the checkpoint end. */
  void finish() {
    holder.close();
    Pause.join(driver);
  }

  private Phase now() {
    return SystemState.phase(engine.versions().state().word());
  }

  private EpochUser protectedUser() {
    EpochUser user = engine.epochs().register();
    user.protect();
    return user;
  }

  @Override
  public void close() {
    holder.close();
  }
}
