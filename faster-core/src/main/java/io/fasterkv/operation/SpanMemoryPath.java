package io.fasterkv.operation;

import io.fasterkv.api.Status;
import io.fasterkv.index.IndexView;
import io.fasterkv.log.LogView;
import io.fasterkv.memory.Words;
import io.fasterkv.operation.Operation.Kind;
import io.fasterkv.operation.ValueAccess.InPlace;
import io.fasterkv.record.Address;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.SpanRecord;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;

/**
 * The short way in memory for keys of any length. Never used as it is: {@link SpanPaths} defines
 * its class file again for each store.
 *
 * <p>What {@link LongMemoryPath} says of marks, versions and flags holds here too: a mark is read
 * after protecting and before the index, and a record that has any flag is left alone. Who changes
 * a record holds its latch and looks again whether it is frozen; who reads one that others may be
 * changing copies it first ({@link SpanValues}).
 */
final class SpanMemoryPath<I, O, C> extends SpanPath<I, O, C> {
  private static final StoreConstants CONSTANTS = StoreConstants.of(MethodHandles.lookup());
  private static final IndexView INDEX = CONSTANTS.index();
  private static final LogView LOG = CONSTANTS.log();
  private static final MemorySegment MEMORY = LOG.memory();

  private static final long NOT_EASY = Address.NONE;
  private static final long FLAGS = ~(Address.MASK | RecordInfo.VERSION_MASK);

  private final SpanValues<I, O, C> values;
  private final ChainSteps.Stripe steps;

  SpanMemoryPath(SpanValues<I, O, C> values, ChainSteps.Stripe steps) {
    this.values = values;
    this.steps = steps;
  }

  @Override
  boolean isCurrent() {
    return CONSTANTS.areCurrent();
  }

  @Override
  boolean take(Operation<I, O, C> op) {
    boolean isTaken = isCurrent() && (op.kind == Kind.READ ? read(op) : update(op));
    if (isTaken) {
      op.version.counted();
      steps.hit(1);
    }
    return isTaken;
  }

  private boolean read(Operation<I, O, C> op) {
    long address = find(op, LOG.readableFrom());
    if (address == NOT_EASY) {
      return false;
    }
    if (address < CONSTANTS.regions().copyBelow()) {
      values.readStable(op, MEMORY, LOG.offset(address));
    } else {
      values.readConcurrent(op, MEMORY, LOG.offset(address));
    }
    op.status = Status.FOUND;
    return true;
  }

  private boolean update(Operation<I, O, C> op) {
    if (op.kind == Kind.DELETE) {
      return false;
    }
    long address = find(op, LOG.mutableFrom());
    if (address == NOT_EASY) {
      return false;
    }
    long record = LOG.offset(address);
    InPlace end =
        op.kind == Kind.RMW
            ? values.updateInPlace(op, MEMORY, record)
            : values.writeInPlace(op, MEMORY, record);
    op.status = Status.UPDATED_IN_PLACE;
    return end == InPlace.DONE;
  }

  /** The newest record under the key's hash, if it has the key, no flag, and lies high enough. */
  private static long find(Operation<?, ?, ?> op, long limit) {
    long address = INDEX.address(INDEX.bucket(op.hash), op.hash);
    long record = LOG.offset(address);
    // Anything may be read of the log's memory; what is not a record now is not used.
    long flags = (Words.loadPlain(MEMORY, record) & FLAGS) ^ RecordInfo.PRESENT;
    boolean isEasy =
        address >= limit && flags == 0 && SpanRecord.INSTANCE.keyEquals(MEMORY, record, op.key);
    return isEasy ? address : NOT_EASY;
  }
}
