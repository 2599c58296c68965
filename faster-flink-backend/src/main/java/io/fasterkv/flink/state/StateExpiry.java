package io.fasterkv.flink.state;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.KeepRule.Lookup;
import java.nio.ByteOrder;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.runtime.state.ttl.TtlUtils;

/**
 * Which records of one state have expired, and which elements of those that have not. Heads of
 * lists in chunks and of maps in buckets, which say nothing of time, go behind their last part.
 *
 * <p>A value begins with its timestamp, 8 bytes, big-endian, as Flink's {@code TtlSerializer}
 * writes it. For one thread at a time.
 */
abstract sealed class StateExpiry permits ValueExpiry, ListExpiry, MapExpiry {
  private final long ttlMillis;
  private final TtlTimeProvider time;

  StateExpiry(long ttlMillis, TtlTimeProvider time) {
    this.ttlMillis = ttlMillis;
    this.time = time;
  }

  static StateExpiry of(RegisteredState<?, ?> state, long ttlMillis, TtlTimeProvider time) {
    return switch (state.type()) {
      case LIST ->
          new ListExpiry(
              ((ListSerializer<?>) state.valueSerializer()).getElementSerializer().duplicate(),
              ttlMillis,
              time);
      case MAP -> new MapExpiry(ttlMillis, time);
      default -> new ValueExpiry(ttlMillis, time);
    };
  }

  /** Whether a record has to stay. */
  abstract boolean keeps(ByteSpan key, ByteSpan record, Lookup store);

  /** The record, which has to stay, without what has expired in it. */
  abstract ByteSpan trimmed(int sub, ByteSpan record);

  /** The moment in which it is asked. */
  public final long now() {
    return time.currentTimestamp();
  }

  /** Whether what has a timestamp there has not expired; so has not what has none. */
  final boolean isAlive(ByteSpan record, int at, long now) {
    return at + Long.BYTES > record.length()
        || !TtlUtils.expired(stamp(record, at), ttlMillis, now);
  }

  static long stamp(ByteSpan record, int at) {
    long bits = record.getLong(at);
    return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? bits : Long.reverseBytes(bits);
  }
}
