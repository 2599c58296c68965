package io.fasterkv.cpr;

import io.fasterkv.api.SessionMode;
import io.fasterkv.cpr.CprStore.Commit;
import io.fasterkv.cpr.Script.Kind;
import io.fasterkv.cpr.Script.Step;

/** Holds a store that was recovered against what each session had done up to its point. */
final class Verifier {
  /** How far beyond a point to look for what went wrong. */
  private static final int BEYOND = 10_000;

  private final Script script;
  private final Lives lives;

  /** The lives are those at the time of the checkpoint. */
  Verifier(Script script, Lives lives) {
    this.script = script;
    this.lives = new Lives(lives);
  }

  /** Reads every key; throws if a session has anything but one prefix, up to its point. */
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

  /** Looks for the one operation that makes the difference between two sums. */
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
