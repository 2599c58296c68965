package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.operation.Engine;
import io.fasterkv.operation.VersionWalk;
import java.lang.ref.Reference;
import java.util.function.ObjLongConsumer;

/**
 * The records of one key that the log still has, newest first: along the key's chain, one record in
 * memory at a time (SIGMOD'18, appendix F). An update in place leaves no record of its own. Used by
 * one thread at a time, beside any number of sessions; what it can reach stays on disk until it is
 * closed.
 */
public final class KeyHistory implements AutoCloseable {
  private final VersionWalk walk;
  private final ReaderLease lease;
  private boolean isClosed;

  private KeyHistory(Engine engine, long begin) {
    try {
      walk = new VersionWalk(engine);
    } catch (Throwable e) {
      engine.log().holds().unpin(begin);
      throw e;
    }
    lease = new ReaderLease(this, walk::giveBack, () -> engine.log().holds().unpin(begin));
  }

  static KeyHistory of(Engine engine, ByteSpan key) {
    return start(engine, (walk, begin) -> walk.start(key, begin));
  }

  static KeyHistory of(Engine engine, long key) {
    return start(engine, (walk, begin) -> walk.start(key, begin));
  }

  private static KeyHistory start(Engine engine, ObjLongConsumer<VersionWalk> toHead) {
    long begin = engine.log().holds().pin();
    KeyHistory history = new KeyHistory(engine, begin);
    try {
      toHead.accept(history.walk, begin);
      return history;
    } catch (Throwable e) {
      history.close();
      throw e;
    }
  }

  /** Moves to the next older record; false when there is none. */
  public boolean next() {
    try {
      return walk.next();
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** The record's value; valid until the next call of {@link #next}. */
  public ByteSpan value() {
    try {
      return walk.value();
    } finally {
      Reference.reachabilityFence(this);
    }
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
      try {
        walk.close();
      } finally {
        lease.close();
        Reference.reachabilityFence(this);
      }
    }
  }
}
