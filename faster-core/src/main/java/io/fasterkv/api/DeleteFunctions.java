package io.fasterkv.api;

/**
 * Callbacks for deletes. {@link StoreFunctions} that also implement this interface are called by
 * the deletes of their session, under the rules of {@link StoreFunctions}.
 */
public interface DeleteFunctions {

  /**
   * Handles the delete of a record that is in memory and may be updated in place. Called exactly
   * once before the delete takes effect; no other session updates the record meanwhile.
   *
   * @param key the key
   * @param value the value that is deleted; must not be changed
   * @param record the record that is deleted
   */
  void concurrentDeleter(ByteSpan key, ByteSpan value, RecordView record);

  /**
   * Handles a delete that appends a tombstone, without access to the old value: it is read-only, on
   * disk, larger than a page, or has deltas. Called before the delete takes effect, and again if an
   * attempt is repeated.
   *
   * @param key the key
   * @param record the tombstone, or the record that is deleted
   */
  void singleDeleter(ByteSpan key, RecordView record);
}
