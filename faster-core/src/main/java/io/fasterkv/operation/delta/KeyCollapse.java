package io.fasterkv.operation.delta;

import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.Operation.Phase;
import io.fasterkv.operation.core.Step;
import io.fasterkv.operation.delta.DeltaWalk.Extent;
import io.fasterkv.operation.large.LargeValues;
import io.fasterkv.operation.search.ChainWalk;

/**
 * Replaces a key's deltas and the value below them by one ordinary record, so that they can be
 * dropped from the head of the log. One thread at a time.
 */
public final class KeyCollapse {

  /** The result of an attempt. */
  public enum Outcome {
    /** The whole value is at the tail. */
    REPLACED,
    /** The value does not extend down to the address. */
    DEAD,
    ON_DISK,
    /** The value does not fit a page and must be written without an epoch. */
    LARGE,
    AGAIN
  }

  private final Engine engine;
  private final ChainWalk walk;
  private final DeltaWalk deltas;
  private final ConditionalInsert inserts;
  private final SameValue<Void, Void, Void> same;
  private final LargeValues<Void, Void, Void> large;

  public KeyCollapse(Engine engine, ChainWalk other, LargeValues<Void, Void, Void> large) {
    this.large = large;
    this.engine = engine;
    walk = other.another();
    deltas = new DeltaWalk(engine, other);
    inserts = new ConditionalInsert(engine, other);
    same = new SameValue<>(engine.layout());
  }

  /**
   * Replaces the key's value if a part of it is at {@code address}; also continues after a search
   * on disk. The caller must be protected, and must have set the operation's phase to SEARCH at
   * first.
   */
  public Outcome attempt(Operation<Void, Void, Void> op, long address) {
    return switch (op.phase) {
      case SEARCH -> search(op, address);
      case FOUND_ON_DISK -> replace(op, address);
      case ABSENT_ON_DISK -> Outcome.DEAD;
      case CHUNKS, WAITING -> throw new IllegalStateException("not a search: phase=" + op.phase);
    };
  }

  private Outcome search(Operation<Void, Void, Void> op, long address) {
    HybridLog log = engine.log();
    long begin = log.beginAddress();
    if (!engine.index().find(op.hash, op.entry)) {
      return Outcome.DEAD;
    }
    op.fold.reset();
    boolean isMatch = walk.find(op.key, op.hash, op.entry.address(), log.headAddress());
    if (!isMatch) {
      return walk.isEnded(begin) ? Outcome.DEAD : onDisk(op, op.readDisk(walk.address(), begin));
    }
    if (!walk.isDelta()) {
      return Outcome.DEAD;
    }
    Extent extent = deltas.gather(op, walk, begin);
    if (extent == Extent.MORE_ON_DISK) {
      return onDisk(op, op.foldDisk(deltas.diskAddress(), begin));
    }
    op.searchedFrom = op.entry.address();
    return extent == Extent.WHOLE ? replace(op, address) : Outcome.AGAIN;
  }

  private Outcome replace(Operation<Void, Void, Void> op, long address) {
    if (!op.fold.isOpen() || op.fold.lowestAddress() > address) {
      return Outcome.DEAD;
    }
    return switch (inserts.replace(op, same, large)) {
      case DONE -> Outcome.REPLACED;
      case RESTART -> again(op);
      case LARGE -> Outcome.LARGE;
      default -> Outcome.AGAIN;
    };
  }

  private static Outcome again(Operation<Void, Void, Void> op) {
    op.phase = Phase.SEARCH;
    return Outcome.AGAIN;
  }

  private static Outcome onDisk(Operation<Void, Void, Void> op, Step ignored) {
    op.disk.floor = 0;
    return Outcome.ON_DISK;
  }
}
