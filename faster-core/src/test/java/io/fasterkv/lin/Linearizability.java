package io.fasterkv.lin;

import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Searches for an order of a key's operations that respects which operations ended before others
 * began, and in which each one answers as a register would. The search is depth first, and
 * remembers which sets of operations have been tried with which value (Wing and Gong's algorithm
 * with Lowe's cache).
 */
public final class Linearizability {
  private static final int MAX_OPERATIONS = 62;

  private final List<Op> history;
  private final Set<State> tried = new HashSet<>();

  /**
   * @param done the operations that have taken effect, a bit each
   */
  private record State(long done, OptionalLong value) {}

  private Linearizability(List<Op> history) {
    this.history = history;
  }

  /** Whether this history is possible for a key that had no value at first. */
  public static boolean isPossible(List<Op> history) {
    if (history.size() > MAX_OPERATIONS) {
      throw new IllegalArgumentException("too many operations: " + history.size());
    }
    return new Linearizability(history).search(new State(0, OptionalLong.empty()));
  }

  private boolean search(State state) {
    if (Long.bitCount(state.done) == history.size()) {
      return true;
    }
    if (!tried.add(state)) {
      return false;
    }
    long firstEnd = firstEnd(state.done);
    for (int i = 0; i < history.size(); i++) {
      Op op = history.get(i);
      boolean mayBeNext =
          (state.done >>> i & 1) == 0 && op.begun() <= firstEnd && isFirstOfBatch(state.done, i);
      if (mayBeNext && fits(op, state.value)) {
        if (search(new State(state.done | 1L << i, after(op, state.value)))) {
          return true;
        }
      }
    }
    return false;
  }

  /** Whether all earlier elements of the same batch have taken effect. */
  private boolean isFirstOfBatch(long done, int index) {
    return index == 0
        || (done >>> (index - 1) & 1) != 0
        || !history.get(index).isBatchedWith(history.get(index - 1));
  }

  /** An operation that began after this time cannot be next: another one had ended before. */
  private long firstEnd(long done) {
    long first = Long.MAX_VALUE;
    for (int i = 0; i < history.size(); i++) {
      if ((done >>> i & 1) == 0) {
        first = Math.min(first, history.get(i).ended());
      }
    }
    return first;
  }

  private static boolean fits(Op op, OptionalLong value) {
    boolean isAnswerRight =
        switch (op.answer()) {
          case PRESENT -> value.isPresent();
          case ABSENT -> value.isEmpty();
          case UNKNOWN -> true;
        };
    return isAnswerRight && (op.kind() != Op.Kind.READ || op.output().equals(value));
  }

  private static OptionalLong after(Op op, OptionalLong value) {
    return switch (op.kind()) {
      case READ -> value;
      case UPSERT -> OptionalLong.of(op.input());
      case RMW ->
          OptionalLong.of(value.isPresent() ? Op.mix(value.getAsLong(), op.input()) : op.input());
      case DELETE -> OptionalLong.empty();
    };
  }
}
