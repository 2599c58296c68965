package io.fasterkv.inject;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The possible values of keys: for a key that one session writes, the values with and without the
 * effect of each failed operation.
 */
final class Values {
  private static final int MOST_VALUES = 1 << 12;
  private static final Set<Long> NOTHING = Set.of(Op.ABSENT);

  private final Map<Long, Set<Long>> byKey = new HashMap<>();

  /** The possible values of a key; empty if there are too many. */
  Set<Long> of(long key) {
    return byKey.getOrDefault(key, NOTHING);
  }

  /** Whether a value is possible for a key. */
  boolean allows(long key, long value) {
    Set<Long> possible = of(key);
    return possible.isEmpty() || possible.contains(value);
  }

  void apply(Op op) {
    if (op.kind == Op.Kind.READ) {
      return;
    }
    Set<Long> before = of(op.key);
    if (before.isEmpty()) {
      return;
    }
    Set<Long> after = new HashSet<>();
    before.forEach(value -> after.add(applied(op, value)));
    if (op.end != Op.End.DONE) {
      after.addAll(before);
    }
    byKey.put(op.key, after.size() > MOST_VALUES ? Set.of() : after);
  }

  private static long applied(Op op, long value) {
    return switch (op.kind) {
      case READ -> value;
      case UPSERT -> op.stamp;
      case RMW -> value == Op.ABSENT ? op.stamp : value + op.stamp;
      case DELETE -> Op.ABSENT;
    };
  }
}
