package io.fasterkv.operation;

/** The successor of a value that does not fit a page is that value; nothing else is done to it. */
final class SameLargeValue implements LargeFunctions<Void, Void, Void> {
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
