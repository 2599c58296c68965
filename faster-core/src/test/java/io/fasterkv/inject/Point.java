package io.fasterkv.inject;

/**
 * A place in the store's code where an Error may be thrown.
 *
 * @param where class, method and number within the method, so that the name is the same in each run
 */
record Point(Kind kind, String where) {

  /** The kind of action at the place. */
  enum Kind {
    /** A method of the store begins. */
    ENTRY,
    /** An object, an array or a lambda is about to be allocated. */
    NEW,
    /** Before and after a call of a completion, a trigger action or any other callback. */
    CALLBACK,
    /** Before and after a call of the device, of one of its queues, or of a file. */
    DEVICE,
    /** Before and after a call of a user function. */
    FUNCTION,
    /** A thread or a task is about to be started. */
    START
  }

  @Override
  public String toString() {
    return kind + ":" + where;
  }
}
