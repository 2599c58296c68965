package io.fasterkv.operation.core;

/**
 * The fast path of operations on keys of any length: the newest record under the key's hash has the
 * key, is in memory, and is read or changed in place. It leaves all other operations alone and
 * changes nothing; the caller then takes the slow path, which handles everything. For one session;
 * one thread at a time.
 */
public abstract class SpanPath<I, O, C> {

  /** Whether the path can be used; false after the index was resized. */
  public abstract boolean isCurrent();

  /**
   * Runs a new operation to its end, with its serial number and its status; returns false if it
   * needs the slow path. The caller must be protected, and must have been since before this call.
   */
  public abstract boolean take(Operation<I, O, C> op);

  /** The path if there is none; if only for now, each operation asks for another one. */
  @SuppressWarnings("unchecked") // It does not access the operation.
  public static <I, O, C> SpanPath<I, O, C> none(boolean isPermanent) {
    return (SpanPath<I, O, C>) (SpanPath<?, ?, ?>) (isPermanent ? None.FOR_EVER : None.FOR_NOW);
  }

  private static final class None extends SpanPath<Object, Object, Object> {
    static final None FOR_EVER = new None(true);
    static final None FOR_NOW = new None(false);
    private final boolean isPermanent;

    None(boolean isPermanent) {
      this.isPermanent = isPermanent;
    }

    @Override
    public boolean isCurrent() {
      return isPermanent;
    }

    @Override
    public boolean take(Operation<Object, Object, Object> op) {
      return false;
    }
  }
}
