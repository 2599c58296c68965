package io.fasterkv.api;

/** How an operation ended. */
public enum Status {
  /**
   * Read: the key has a value and the reader has seen it. Delete: the value is gone. RMW: the key
   * has a value, of which its functions make no successor.
   */
  FOUND,
  /** Read or delete: the key has no value. RMW: it has none, and its functions make none. */
  NOT_FOUND,
  /** Upsert or RMW: the key had no value; a record was created. */
  CREATED,
  /** Upsert or RMW: the value was changed where it lies. */
  UPDATED_IN_PLACE,
  /** Upsert or RMW: a new record at the tail took the place of the old one. */
  COPIED,
  /**
   * RMW by functions that can be merged: the update lies in a delta at the tail, above what the key
   * may have on disk or in the fuzzy region, which was not looked at; reads merge them.
   */
  DELTA_APPENDED,
  /**
   * The record lies on disk and is being read. The operation ends in a later {@code
   * completePending}, which calls {@link StoreFunctions#completionCallback}, or throws {@link
   * StoreException.OperationFailed} if it did not take effect. Until then neither input nor output
   * may be reused.
   */
  PENDING
}
