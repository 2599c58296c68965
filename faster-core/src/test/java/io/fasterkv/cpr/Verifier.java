package io.fasterkv.cpr;

import io.fasterkv.api.SessionMode;
import io.fasterkv.cpr.CprStore.Commit;
import io.fasterkv.cpr.Script.Kind;
import io.fasterkv.cpr.Script.Step;

/** Holds a store that was recovered against what each session had done up to its point. */
final class Verifier {
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
        session.perform(new Step(0, 0, Kind.READ, key, 0), value -> expected.check(key, value));
      }
    }
  }
}
