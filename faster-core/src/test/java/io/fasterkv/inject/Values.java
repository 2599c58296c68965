package io.fasterkv.inject;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The values that keys may hold: for a key that one session writes, the values with and without the
 * effect of each failed operation.
 */
final class Values {
  private static final int MOST_VALUES = 1 << 12;
  private static final Set<Long> NOTHING = Set.of(Op.ABSENT);

  private final Map<Long, Set<Long>> byKey = new HashMap<>();

  /** The values that a key may hold; empty if there are too many possibilities. */
  Set<Long> of(long key) {
    return byKey.getOrDefault(key, NOTHING);
  }

  /** Whether a key may hold a value. */
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
