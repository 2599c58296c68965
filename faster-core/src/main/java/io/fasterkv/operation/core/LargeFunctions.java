package io.fasterkv.operation.core;

import io.fasterkv.api.ByteSpan;
import org.jspecify.annotations.Nullable;

/**
 * Calls the user's functions on values in scratch memory instead of a record: the old one is the
 * operation's {@code value}, the new one its {@code newValue}. No other thread sees either, and no
 * epoch is protected.
 */
public interface LargeFunctions<I, O, C> {

  /** Reads a whole value. */
  void readLarge(Operation<I, O, C> op);

  /**
   * The value of an upsert if {@link #writeLarge} would copy it unchanged, so that it need not be
   * called; otherwise null.
   */
  @Nullable ByteSpan unchangedSource(Operation<I, O, C> op);

  /** Whether an update in place needs as much room as the source of the upsert has bytes. */
  boolean neverFitsInPlace();

  /** Writes an upsert's value. */
  void writeLarge(Operation<I, O, C> op);

  /** Writes an RMW's first value. */
  void updateInitialLarge(Operation<I, O, C> op);

  /** Length of the successor of a value. */
  int copyBytesLarge(Operation<I, O, C> op);

  /** Writes the successor of a value. */
  void updateCopyLarge(Operation<I, O, C> op);
}
