package io.fasterkv.api;

/** The outcome of an operation. */
public enum Status {
  /**
   * Read: the key has a value and the reader has seen it. Delete: the value is deleted. RMW: the
   * key has a value, and the functions chose not to replace it.
   */
  FOUND,
  /**
   * Read or delete: the key has no value. RMW: the key has no value, and the functions chose not to
   * create one.
   */
  NOT_FOUND,
  /** Upsert or RMW: the key had no value; a record was created. */
  CREATED,
  /** Upsert or RMW: the value was changed in place. */
  UPDATED_IN_PLACE,
  /** Upsert or RMW: a new record at the tail replaced the old one. */
  COPIED,
  /**
   * RMW with mergeable functions: the update was appended to the tail as a delta. It was not merged
   * with the older value of the key on disk or in the fuzzy region, if there is one; reads do that.
   */
  DELTA_APPENDED,
  /**
   * The record is on disk and is being read. The operation ends in a later {@code completePending}.
   * That call either calls {@link StoreFunctions#completionCallback}, or throws {@link
   * StoreException.OperationFailed} if the operation did not take effect. Until then the caller
   * must not reuse the input or the output.
   */
  PENDING
}
