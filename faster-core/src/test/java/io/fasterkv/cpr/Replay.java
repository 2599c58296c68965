package io.fasterkv.cpr;

import io.fasterkv.cpr.Script.Share;
import io.fasterkv.cpr.Script.Step;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Computes the expected contents of a store after each session has executed its operations up to a
 * given point. Keys of one session, and sums, are known exactly. A key that all sessions write
 * blindly must have the last write of one of them.
 */
final class Replay {
  /** A session's last operation on a blindly written key: none yet, or a delete. */
  private static final long NOTHING = 0;

  private static final long DELETED = 2;

  private final Script script;
  private final Map<Long, Long> sums = new HashMap<>();
  private final Map<Long, long[]> lastWrites = new HashMap<>();

  Replay(Script script) {
    this.script = script;
  }

  /** Adds all operations of a session up to its commit point. */
  Replay add(int session, long point, Lives lives) {
    for (long serial = 1; serial <= point; serial++) {
      apply(script.step(session, serial, lives.of(session, serial)));
    }
    return this;
  }

  void apply(Step step) {
    if (step.share() == Share.BLIND) {
      long[] writes = lastWrites.computeIfAbsent(step.key(), key -> new long[script.sessions()]);
      switch (step.kind()) {
        case UPSERT -> writes[step.session()] = step.stamp();
        case DELETE -> writes[step.session()] = DELETED;
        default -> {}
      }
      return;
    }
    switch (step.kind()) {
      case UPSERT -> sums.put(step.key(), step.stamp());
      case RMW -> sums.merge(step.key(), step.stamp(), Long::sum);
      case DELETE -> sums.remove(step.key());
      default -> {}
    }
  }

  /** The value of a key of one session, or null. */
  Long sum(long key) {
    return sums.get(key);
  }

  /**
   * Throws unless a key may have that value now.
   *
   * @param value null if the key has none
   */
  void check(long key, Long value) {
    if (Step.share(key) == Share.BLIND) {
      checkBlind(key, value);
      return;
    }
    Long expected = sums.get(key);
    if (expected == null ? value != null : !expected.equals(value)) {
      throw new AssertionError(
          "key " + Long.toHexString(key) + ": found " + value + ", expected " + expected);
    }
  }

  private void checkBlind(long key, Long value) {
    long[] writes = lastWrites.getOrDefault(key, new long[script.sessions()]);
    boolean isUntouched = Arrays.stream(writes).allMatch(write -> write == NOTHING);
    boolean isRight =
        value == null
            ? isUntouched || Arrays.stream(writes).anyMatch(write -> write == DELETED)
            : Arrays.stream(writes).anyMatch(write -> write == value);
    if (!isRight) {
      throw new AssertionError(
          "key "
              + Long.toHexString(key)
              + ": found "
              + value
              + ", expected the last write of a session: "
              + Arrays.toString(writes));
    }
  }
}
