package io.fasterkv.operation.core;

/**
 * The fast path of operations on keys of any length: the newest record under the key's hash has the
 * key, is in memory, and is read or changed in place. It leaves all other operations alone and
 * changes nothing; the caller then takes the slow path, which handles everything. For one session;
 * one thread at a time.
 */
public abstract class SpanPath<I, O, C> {

  /** Whether the path can be used; false after the index was resized. */
  public abstract boolean isCurrent();

  /**
   * Runs a new operation to its end, with its serial number and its status; returns false if it
   * needs the slow path. The caller must be protected, and must have been since before this call.
   */
  public abstract boolean take(Operation<I, O, C> op);
}
