package io.fasterkv.lin;

import io.fasterkv.lin.Op.Answer;
import java.util.OptionalLong;

/** One thread's access to keys that other threads also use. */
public interface Register extends AutoCloseable {
  OptionalLong read(long key);

  Answer upsert(long key, long value);

  Answer rmw(long key, long input);

  Answer delete(long key);

  /** Reads in one batch; stores the values found. */
  default void read(long[] keys, OptionalLong[] found) {
    for (int i = 0; i < keys.length; i++) {
      found[i] = read(keys[i]);
    }
  }

  /** Upserts in one batch; stores the answers. */
  default void upsert(long[] keys, long[] values, Answer[] answers) {
    for (int i = 0; i < keys.length; i++) {
      answers[i] = upsert(keys[i], values[i]);
    }
  }

  /** Updates in one batch; stores the answers. */
  default void rmw(long[] keys, long[] inputs, Answer[] answers) {
    for (int i = 0; i < keys.length; i++) {
      answers[i] = rmw(keys[i], inputs[i]);
    }
  }

  @Override
  default void close() {}
}
