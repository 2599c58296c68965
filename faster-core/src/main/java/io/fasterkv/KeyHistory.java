package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.operation.Engine;
import io.fasterkv.operation.VersionWalk;

/**
 * The records of one key that the log still has, newest first: along the key's chain, one record in
 * memory at a time (SIGMOD'18, appendix F). An update in place leaves no record of its own. Used by
 * one thread at a time, beside any number of sessions; what it can reach stays on disk until it is
 * closed.
 */
public final class KeyHistory implements AutoCloseable {
  private final Engine engine;
  private final long begin;
  private final VersionWalk walk;
  private boolean isClosed;

  private KeyHistory(Engine engine) {
    this.engine = engine;
    begin = engine.log().pin();
    try {
      walk = new VersionWalk(engine, begin);
    } catch (RuntimeException e) {
      engine.log().unpin(begin);
      throw e;
    }
  }

  static KeyHistory of(Engine engine, ByteSpan key) {
    KeyHistory history = new KeyHistory(engine);
    history.walk.start(key);
    return history;
  }

  static KeyHistory of(Engine engine, long key) {
    KeyHistory history = new KeyHistory(engine);
    history.walk.start(key);
    return history;
  }

  /** Moves to the next older record; false when there is none. */
  public boolean next() {
    return walk.next();
  }

  /** The record's value; valid until the next call of {@link #next}. */
  public ByteSpan value() {
    return walk.value();
  }

  /** Whether the key was deleted here. */
  public boolean isTombstone() {
    return walk.isTombstone();
  }

  /** Whether the record is to be merged, as the newer part, with the older ones. */
  public boolean isDelta() {
    return walk.isDelta();
  }

  /** Where the record lies in the log. */
  public long address() {
    return walk.address();
  }

  @Override
  public void close() {
    if (!isClosed) {
      isClosed = true;
      walk.close();
      engine.log().unpin(begin);
    }
  }
}
