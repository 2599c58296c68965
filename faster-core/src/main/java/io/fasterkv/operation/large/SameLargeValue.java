package io.fasterkv.operation.large;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.operation.core.LargeFunctions;
import io.fasterkv.operation.core.Operation;

/** Copies a value that does not fit a page unchanged. */
public final class SameLargeValue implements LargeFunctions<Void, Void, Void> {
  @Override
  public int copyBytesLarge(Operation<Void, Void, Void> op) {
    return op.value.length();
  }

  @Override
  public void updateCopyLarge(Operation<Void, Void, Void> op) {
    op.newValue.setTo(op.value);
  }

  @Override
  public void readLarge(Operation<Void, Void, Void> op) {
    throw notDone(op);
  }

  @Override
  public ByteSpan unchangedSource(Operation<Void, Void, Void> op) {
    throw notDone(op);
  }

  @Override
  public boolean neverFitsInPlace() {
    return true;
  }

  @Override
  public void writeLarge(Operation<Void, Void, Void> op) {
    throw notDone(op);
  }

  @Override
  public void updateInitialLarge(Operation<Void, Void, Void> op) {
    throw notDone(op);
  }

  private static IllegalStateException notDone(Operation<Void, Void, Void> op) {
    return new IllegalStateException("values are only copied here: kind=" + op.kind);
  }
}
