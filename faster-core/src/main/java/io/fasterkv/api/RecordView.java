package io.fasterkv.api;

/** Tells a callback about the record that it reads or writes. Valid only during the callback. */
public interface RecordView {

  /**
   * Returns the record's address in the log. For a value that is read or updated in place, this is
   * the address of the key's newest record; for a value that is written into a new record, it is
   * the address of the new record.
   *
   * @return the address; 0 if a value larger than a page is written, whose record has no place yet
   */
  long address();

  /**
   * {@return the version of the store that the operation belongs to; each checkpoint ends a
   * version}
   */
  long version();
}
