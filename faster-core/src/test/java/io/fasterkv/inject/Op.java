package io.fasterkv.inject;

import io.fasterkv.cpr.SumFunctions.Found;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One operation of a session and its outcome. The store reports the end of a pending operation. */
final class Op implements Found {
  /** No value: the key is absent. */
  static final long ABSENT = Long.MIN_VALUE;

  enum Kind {
    READ,
    UPSERT,
    RMW,
    DELETE
  }

  enum End {
    /** It is pending. */
    NONE,
    /** It took effect. */
    DONE,
    /** It was reported as failed: it took full effect or none. */
    FAILED
  }

  final Kind kind;
  final long key;
  final long stamp;

  /** The values that a read may find. */
  Set<Long> expected = Set.of();

  /** Its serial number; or that of the operation before it, if it was not counted. */
  long serial;

  /** Completed when the operation has ended; null in a session without stages. */
  @Nullable CompletableFuture<?> stage;

  volatile End end = End.NONE;
  volatile long value = ABSENT;

  Op(Kind kind, long key, long stamp) {
    this.kind = kind;
    this.key = key;
    this.stamp = stamp;
  }

  @Override
  public void found(Long found) {
    value = found == null ? ABSENT : found;
    end = End.DONE;
  }

  @Override
  public String toString() {
    return kind + " key=" + key + " stamp=" + stamp + " serial=" + serial + " end=" + end;
  }
}
