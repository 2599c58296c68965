package io.fasterkv.cpr;

import io.fasterkv.cpr.Script.Kind;
import io.fasterkv.cpr.Script.Share;
import io.fasterkv.cpr.Script.Step;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * One session that executes its {@link Script} from its commit point on. Reads of its own keys are
 * compared with its earlier writes. Not safe for concurrent use.
 */
final class Worker implements AutoCloseable {
  private final StampedSession session;
  private final Script script;
  private final int number;
  private final int life;
  private final Replay own;

  /**
   * Keys of operations that have not ended: another operation on such a key could take effect in
   * any order.
   */
  private final Set<Long> pendingKeys = new HashSet<>();

  private long serial;

  /** A worker whose session continues after {@code point}, in the newest of the lives. */
  Worker(StampedSession session, Script script, int number, long point, Lives lives) {
    this.session = session;
    this.script = script;
    this.number = number;
    life = lives.of(number, point + 1);
    own = new Replay(script).add(number, point, lives);
    serial = point;
    requireSerial();
  }

  /** The number of operations given to the session, in all lives. */
  long serial() {
    return serial;
  }

  /** The name of the session. */
  String name() {
    return CprStore.name(number);
  }

  /** Executes the next step, or the next steps as a batch. */
  void advance() {
    if (script.isBatch(number, serial + 1)) {
      batch();
    } else {
      step(script.step(number, serial + 1, life));
    }
    requireSerial();
  }

  /** Completes the operations in progress. */
  void completePending() {
    session.completePending();
    pendingKeys.clear();
  }

  private void step(Step step) {
    endPendingOn(step);
    serial++;
    boolean isOwn = step.share() == Share.OWN;
    Long expected = own.sum(step.key());
    boolean hasEnded =
        session.perform(
            step,
            value -> {
              if (isOwn && step.kind() == Kind.READ) {
                requireSame(step, expected, value);
              }
            });
    own.apply(step);
    if (!hasEnded) {
      pendingKeys.add(step.key());
    }
  }

  private void batch() {
    List<Step> steps = new ArrayList<>();
    for (int i = 1; i <= Script.BLOCK; i++) {
      Step step = script.step(number, serial + i, life);
      endPendingOn(step);
      steps.add(step);
    }
    serial += Script.BLOCK;
    if (session.batch(steps) > 0) {
      steps.forEach(step -> pendingKeys.add(step.key()));
    }
    steps.forEach(own::apply);
  }

  private void endPendingOn(Step step) {
    if (pendingKeys.contains(step.key())) {
      completePending();
    }
  }

  private void requireSerial() {
    if (session.serial() != serial) {
      throw new AssertionError(
          "session " + number + " has serial " + session.serial() + ", expected " + serial);
    }
  }

  private static void requireSame(Step step, Long expected, Long found) {
    if (expected == null ? found != null : !expected.equals(found)) {
      throw new AssertionError(step + " found " + found + ", expected " + expected);
    }
  }

  @Override
  public void close() {
    session.close();
  }
}
