package io.fasterkv.flink.state;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.config.KeepRule.Lookup;
import java.nio.ByteOrder;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.runtime.state.ttl.TtlUtils;

/**
 * Decides which records of one state have expired, and which elements of the other records. The
 * heads of chunked lists and bucketed maps have no time; they are dropped after their last part.
 *
 * <p>A value begins with its timestamp: 8 bytes, big-endian, as Flink's {@code TtlSerializer}
 * writes it. For one thread at a time.
 */
abstract sealed class StateExpiry permits ValueExpiry, ListExpiry, MapExpiry {
  private final long ttlMillis;
  private final TtlTimeProvider time;

  StateExpiry(long ttlMillis, TtlTimeProvider time) {
    this.ttlMillis = ttlMillis;
    this.time = time;
  }

  /** Whether a record must be kept. */
  abstract boolean keeps(ByteSpan key, ByteSpan record, Lookup store);

  /** Returns a record that must be kept, without its expired elements or entries. */
  abstract ByteSpan trimmed(int sub, ByteSpan record);

  /** The current time. */
  public final long now() {
    return time.currentTimestamp();
  }

  /** Whether the value at {@code at} has not expired; true if it has no timestamp. */
  final boolean isAlive(ByteSpan record, int at, long now) {
    return at + Long.BYTES > record.length()
        || !TtlUtils.expired(stamp(record, at), ttlMillis, now);
  }

  static long stamp(ByteSpan record, int at) {
    long bits = record.getLong(at);
    return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? bits : Long.reverseBytes(bits);
  }
}
