package io.fasterkv.lin;

import io.fasterkv.lin.Op.Answer;
import java.util.OptionalLong;

/** One thread's way to some keys that others use too. */
public interface Register extends AutoCloseable {
  OptionalLong read(long key);

  Answer upsert(long key, long value);

  Answer rmw(long key, long input);

  Answer delete(long key);

  @Override
  default void close() {}
}
