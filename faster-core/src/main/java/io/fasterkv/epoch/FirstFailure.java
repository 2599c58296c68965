package io.fasterkv.epoch;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Keeps the first thing that went wrong on any thread, for those who can report it. */
public final class FirstFailure implements Consumer<Throwable> {
  private final AtomicReference<@Nullable Throwable> first = new AtomicReference<>();

  @Override
  public void accept(Throwable failure) {
    first.compareAndSet(null, failure);
  }

  public @Nullable Throwable get() {
    return first.getAcquire();
  }
}
