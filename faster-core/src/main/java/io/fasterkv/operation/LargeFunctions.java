package io.fasterkv.operation;

/**
 * The user's functions on values that do not lie in a record but in scratch memory: the old one is
 * the operation's {@code value}, the new one its {@code newValue}. Nobody else sees either, and no
 * epoch is protected.
 */
interface LargeFunctions<I, O, C> {

  /** Reads a whole value. */
  void readLarge(Operation<I, O, C> op);

  /** Writes an upsert's value. */
  void writeLarge(Operation<I, O, C> op);

  /** Writes an RMW's first value. */
  void updateInitialLarge(Operation<I, O, C> op);

  /** How many bytes the successor of a value needs. */
  int copyBytesLarge(Operation<I, O, C> op);

  /** Writes the successor of a value. */
  void updateCopyLarge(Operation<I, O, C> op);
}
