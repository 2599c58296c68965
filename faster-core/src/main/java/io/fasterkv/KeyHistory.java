package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.search.VersionWalk;
import java.lang.ref.Reference;
import java.util.function.ObjLongConsumer;

/**
 * Iterates over the records of one key that are still in the log, newest first. It follows the
 * key's chain and holds one record in memory at a time (SIGMOD'18, appendix F). An update in place
 * leaves no record of its own. For one thread at a time, concurrently with any number of sessions.
 * The records that it can reach stay on disk until it is closed.
 */
public final class KeyHistory implements AutoCloseable {
  private final VersionWalk walk;
  private final ReaderLease lease;
  private boolean isClosed;

  private KeyHistory(Engine engine, long begin) {
    try {
      walk = new VersionWalk(engine);
    } catch (Throwable e) {
      engine.log().pins().unpin(begin);
      throw e;
    }
    HybridLog log = engine.log();
    Runnable unpin = () -> log.pins().unpin(begin);
    lease = new ReaderLease(this, walk::returnBuffers, unpin, log.failure().logger());
  }

  static KeyHistory of(Engine engine, ByteSpan key) {
    return start(engine, (walk, begin) -> walk.start(key, begin));
  }

  static KeyHistory of(Engine engine, long key) {
    return start(engine, (walk, begin) -> walk.start(key, begin));
  }

  private static KeyHistory start(Engine engine, ObjLongConsumer<VersionWalk> toHead) {
    long begin = engine.log().pins().pin();
    KeyHistory history = new KeyHistory(engine, begin);
    try {
      toHead.accept(history.walk, begin);
      return history;
    } catch (Throwable e) {
      history.close();
      throw e;
    }
  }

  /**
   * Moves to the next older record.
   *
   * @return false if there is none
   */
  public boolean next() {
    try {
      return walk.next();
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** {@return the record's value; valid until the next call of {@link #next}} */
  public ByteSpan value() {
    try {
      return walk.value();
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** {@return whether the record deletes the key} */
  public boolean isTombstone() {
    return walk.isTombstone();
  }

  /** {@return whether the record is a delta, the newer part to merge with the older records} */
  public boolean isDelta() {
    return walk.isDelta();
  }

  /** {@return the record's log address} */
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
