package io.fasterkv.operation;

/**
 * The short way of operations on keys of any length: the newest record under the key's hash has the
 * key, is in memory, and is read or changed where it lies. What is not that simple it leaves alone,
 * with nothing changed: the caller then takes the general way, which does everything. One
 * session's; one thread at a time.
 */
abstract class SpanPath<I, O, C> {

  /** Whether the path still leads anywhere: it does not when the index has another size. */
  abstract boolean isCurrent();

  /**
   * Ends an operation that begins, with its serial number and its status; false if it has to go the
   * general way. The caller is protected, and has been since before this.
   */
  abstract boolean take(Operation<I, O, C> op);

  /** The path where there is none; asked for by each operation while that is only for now. */
  @SuppressWarnings("unchecked") // It looks at no operation.
  static <I, O, C> SpanPath<I, O, C> none(boolean isForEver) {
    return (SpanPath<I, O, C>) (SpanPath<?, ?, ?>) (isForEver ? None.FOR_EVER : None.FOR_NOW);
  }

  private static final class None extends SpanPath<Object, Object, Object> {
    static final None FOR_EVER = new None(true);
    static final None FOR_NOW = new None(false);
    private final boolean isForEver;

    None(boolean isForEver) {
      this.isForEver = isForEver;
    }

    @Override
    boolean isCurrent() {
      return isForEver;
    }

    @Override
    boolean take(Operation<Object, Object, Object> op) {
      return false;
    }
  }
}
