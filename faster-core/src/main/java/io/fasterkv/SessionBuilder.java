package io.fasterkv;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.MergeableFunctions;
import io.fasterkv.api.MergeableLongFunctions;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreFunctions;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.session.SessionIdentity;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.operation.fastpath.LongPaths;
import io.fasterkv.operation.fastpath.SpanPaths;
import io.fasterkv.operation.session.AsyncCore;
import io.fasterkv.operation.session.LongCore;
import io.fasterkv.operation.session.SessionCore;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Opens a session: {@link FasterStore#newSession()} creates the builder, and the method that names
 * the kind of keys and values ends it. Every such method throws {@link BadConfig} if the store's
 * {@code recordKind} or {@code merge} does not fit, and for a name that is open, already known when
 * it should be new, or unknown when it should be resumed. Not safe for concurrent use.
 */
public final class SessionBuilder {
  private final StoreParts parts;
  private final ClosingGate gate;
  private final LongPaths longPaths;
  private final SpanPaths spanPaths;
  private @Nullable SessionIdentity identity;
  private SessionMode mode = SessionMode.BLOCKING;

  SessionBuilder(StoreParts parts, ClosingGate gate, LongPaths longPaths, SpanPaths spanPaths) {
    this.parts = parts;
    this.gate = gate;
    this.longPaths = longPaths;
    this.spanPaths = spanPaths;
  }

  /**
   * Names the session; see {@link SessionIdentity}. By default it has no name.
   *
   * @param identity the session's name, and whether it is new or resumed
   * @return this builder
   */
  public SessionBuilder identity(SessionIdentity identity) {
    this.identity = identity;
    return this;
  }

  /**
   * Sets what an operation does when its record is on disk; {@link SessionMode#BLOCKING} by
   * default. Asynchronous sessions never wait.
   *
   * @param mode the mode
   * @return this builder
   */
  public SessionBuilder mode(SessionMode mode) {
    this.mode = mode;
    return this;
  }

  /**
   * Opens a session on keys and values of any length.
   *
   * @param <I> the input of an operation
   * @param <O> the output of an operation
   * @param <C> the caller's own object for pending operations
   * @param functions the callbacks for this session alone
   * @return the session
   */
  public <I, O, C> Session<I, O, C> spans(StoreFunctions<I, O, C> functions) {
    checkSpans(functions);
    return new Session<>(SessionCore.spans(parts.engine(), identity, spanPaths, functions, mode));
  }

  /**
   * Opens a session on {@code long} keys and values.
   *
   * @param <C> the caller's own object for pending operations
   * @param functions the callbacks
   * @return the session
   */
  public <C> LongSession<C> longs(LongFunctions<C> functions) {
    checkLongs(functions);
    return new LongSession<>(LongCore.of(parts.engine(), identity, longPaths, functions, mode));
  }

  /**
   * Opens a session on {@code byte[]} keys and values, for which no functions are needed. The store
   * has no {@code merge}.
   *
   * @return the session
   */
  public BytesSession bytes() {
    mode = SessionMode.BLOCKING;
    return new BytesSession(spans(new ArrayFunctions()));
  }

  /**
   * Opens a session on {@code String} keys and values; see {@link #bytes}.
   *
   * @return the session
   */
  public StringSession strings() {
    return new StringSession(bytes());
  }

  /**
   * Opens a session on keys and values of any length, whose operations return stages.
   *
   * @param <I> the input of an operation
   * @param <O> the output of an operation
   * @param <C> not used
   * @param functions the callbacks for this session alone
   * @param executor completes operations that read the disk; it needs one thread at a time for this
   *     session, and may be shared
   * @return the session
   */
  public <I, O, C> AsyncSession<I, O> asyncSpans(
      StoreFunctions<I, O, C> functions, Executor executor) {
    checkSpans(functions);
    return new AsyncSession<>(
        AsyncCore.spans(parts.engine(), identity, spanPaths, functions, executor));
  }

  /**
   * Opens a session on {@code long} keys and values, whose operations return stages.
   *
   * @param <C> not used
   * @param functions the callbacks
   * @param executor completes operations that read the disk
   * @return the session
   */
  public <C> AsyncLongSession asyncLongs(LongFunctions<C> functions, Executor executor) {
    checkLongs(functions);
    return new AsyncLongSession(AsyncCore.longs(parts.engine(), identity, functions, executor));
  }

  private void checkSpans(StoreFunctions<?, ?, ?> functions) {
    check(RecordKind.SPANS, functions instanceof MergeableFunctions, "MergeableFunctions");
  }

  private void checkLongs(LongFunctions<?> functions) {
    check(RecordKind.LONGS, functions instanceof MergeableLongFunctions, "MergeableLongFunctions");
  }

  /** An updater that is not mergeable would mistake a delta for the value. */
  private void check(RecordKind kind, boolean isMergeable, String allowed) {
    gate.requireOpen();
    parts.requireRecordKind(kind);
    if (parts.config().merge() != null && !isMergeable) {
      throw new BadConfig(
          "the store merges deltas and the session's functions make none: functions=not mergeable,"
              + " allowed="
              + allowed
              + "; implement it, or open the store without StoreConfigBuilder.merge");
    }
  }
}
