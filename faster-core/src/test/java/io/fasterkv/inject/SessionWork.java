package io.fasterkv.inject;

import io.fasterkv.inject.Op.End;
import io.fasterkv.inject.Op.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * The operations of one session, and the values that it must find. It writes keys of its own, and
 * increments counters that all sessions share.
 */
final class SessionWork {
  static final int HOT_KEYS = 5;
  static final int KEYS = 60;
  static final int COUNTERS = 3;
  static final long COUNTER = 1L << 32;
  private static final long SESSION_STRIDE = 1L << 20;
  private static final int MOST_FAILURES = 8;
  private static final int MOST_COMPLETIONS = 80;

  private final Trial trial;
  private final Actor actor;
  private final Hand hand;
  private final int number;
  private final SplittableRandom random;
  private final Values values;
  private final List<Op> ops = new ArrayList<>();
  private final List<Op> pending = new ArrayList<>();
  private int failures;

  /** How many operations have been counted with certainty, and how many may have been. */
  private volatile long ended;

  private volatile long begun;

  /**
   * @param values the values of keys that no session writes; the session's own values are added
   */
  SessionWork(
      Trial trial, Actor actor, Hand hand, int number, SplittableRandom random, Values values) {
    this.trial = trial;
    this.actor = actor;
    this.hand = hand;
    this.number = number;
    this.random = random;
    this.values = values;
  }

  static long key(int session, int key) {
    return session * SESSION_STRIDE + key;
  }

  int number() {
    return number;
  }

  long ended() {
    return ended;
  }

  long begun() {
    return begun;
  }

  /** All operations so far; for the session's own thread, or after the thread's end. */
  List<Op> ops() {
    return ops;
  }

  /** Writes every key once. */
  void fill(int count) {
    for (int i = 0; i < count && mayContinue(); i++) {
      perform(new Op(Kind.UPSERT, key(number, i), stamp()));
    }
  }

  /** Executes a number of operations. */
  void work(int count) {
    for (int i = 0; i < count && mayContinue(); i++) {
      perform(next());
      if (random.nextInt(12) == 0) {
        settle();
      }
    }
  }

  /** A session stops after repeated failures. */
  private boolean mayContinue() {
    return failures < MOST_FAILURES;
  }

  private Op next() {
    int dice = random.nextInt(16);
    if (dice < 1) {
      return new Op(Kind.READ, key(LazyRestore.SESSION, random.nextInt(LazyRestore.KEYS)), 0);
    }
    if (dice < 3) {
      return new Op(Kind.RMW, COUNTER + random.nextInt(COUNTERS), stamp() >>> 8);
    }
    Kind kind = dice < 7 ? Kind.READ : dice < 10 ? Kind.UPSERT : dice < 15 ? Kind.RMW : Kind.DELETE;
    boolean isHot = random.nextInt(3) == 0;
    return new Op(kind, key(number, random.nextInt(isHot ? HOT_KEYS : KEYS)), stamp());
  }

  private long stamp() {
    return random.nextLong() >>> 8 | 1;
  }

  private void perform(Op op) {
    if (pending.stream().anyMatch(other -> other.key == op.key)) {
      settle();
    }
    op.expected = values.of(op.key);
    begun++;
    actor.run(op.kind.name(), () -> hand.issue(op));
    if (actor.hasFailed()) {
      op.end = End.FAILED;
      failures++;
    } else {
      failures = 0;
    }
    Long serial = actor.call("serial", hand::serial);
    op.serial = serial == null ? ended : serial;
    ended = op.serial;
    begun = op.serial;
    ops.add(op);
    if (op.end == End.NONE) {
      pending.add(op);
    } else {
      over(op);
    }
  }

  /** Completes all pending operations. */
  void settle() {
    boolean hasFailed = false;
    for (int i = 0; i < MOST_COMPLETIONS && !pending.isEmpty(); i++) {
      actor.run("completePending", hand::completePending);
      if (!actor.hasFailed()) {
        break;
      }
      hasFailed = true;
    }
    for (Op op : pending) {
      if (op.stage != null) {
        actor.call("the stage of " + op.kind, () -> await(op));
        op.end = actor.hasFailed() ? End.FAILED : End.DONE;
      } else if (op.end == End.NONE) {
        if (!hasFailed) {
          trial.fault("a pending operation ended without a word: " + op);
        }
        op.end = End.FAILED;
      }
    }
    pending.forEach(this::over);
    pending.clear();
  }

  private Object await(Op op) throws Exception {
    try {
      // The time bound of the call is shorter, so the watch over the calls reports a hang.
      return op.stage.get(1, TimeUnit.HOURS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }

  private void over(Op op) {
    if (op.kind == Kind.READ) {
      boolean isRight = op.expected.isEmpty() || op.expected.contains(op.value);
      if (op.end == End.DONE && !isRight && op.key < COUNTER) {
        trial.fault(op + " found " + op.value + ", allowed=" + op.expected);
      }
      return;
    }
    if (op.key < COUNTER) {
      values.apply(op);
    }
  }

  /** Reads all keys of the session. */
  void readAll() {
    for (int i = 0; i < KEYS && mayContinue(); i++) {
      perform(new Op(Kind.READ, key(number, i), 0));
    }
    settle();
  }

  void close() {
    actor.run("close of the session", hand::close);
    if (actor.hasFailed()) {
      actor.run("close of the session again", hand::close);
    }
  }
}
