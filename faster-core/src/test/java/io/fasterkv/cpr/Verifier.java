package io.fasterkv.cpr;

import io.fasterkv.api.session.SessionMode;
import io.fasterkv.cpr.CprStore.Commit;
import io.fasterkv.cpr.Script.Kind;
import io.fasterkv.cpr.Script.Step;

/** Compares a recovered store with the operations of each session up to its commit point. */
final class Verifier {
  /** How many operations beyond a point the search for the cause of a difference covers. */
  private static final int BEYOND = 10_000;

  private final Script script;
  private final Lives lives;

  /** Creates a verifier for a checkpoint; {@code lives} are those at its time. */
  Verifier(Script script, Lives lives) {
    this.script = script;
    this.lives = new Lives(lives);
  }

  /** Reads every key; throws unless each session has exactly one prefix, up to its commit point. */
  void check(CprStore store, Commit commit, int maxBytes) {
    Replay expected = new Replay(script);
    for (int session = 0; session < script.sessions(); session++) {
      expected.add(session, commit.point(session), lives);
    }
    try (StampedSession session = store.anonymous(SessionMode.BLOCKING, maxBytes)) {
      for (long key : script.keys()) {
        session.perform(
            new Step(0, 0, Kind.READ, key, 0), value -> check(expected, commit, key, value));
      }
    }
  }

  private void check(Replay expected, Commit commit, long key, Long value) {
    try {
      expected.check(key, value);
    } catch (AssertionError e) {
      throw new AssertionError(e.getMessage() + explain(expected.sum(key), commit, key, value), e);
    }
  }

  /** Finds the one operation that accounts for the difference between two sums. */
  private String explain(Long expected, Commit commit, long key, Long value) {
    if (expected == null || value == null) {
      return "";
    }
    StringBuilder found = new StringBuilder();
    for (int session = 0; session < script.sessions(); session++) {
      long point = commit.point(session);
      for (long serial = 1; serial <= point + BEYOND; serial++) {
        Step step = script.step(session, serial, lives.of(session, serial));
        long more = step.key() == key ? step.stamp() : 0;
        if (more != 0 && (value - expected == more || expected - value == more)) {
          found
              .append(value - expected == more ? "; too many: " : "; missing: ")
              .append(step)
              .append(", its session's point is ")
              .append(point);
        }
      }
    }
    return found.toString();
  }
}
