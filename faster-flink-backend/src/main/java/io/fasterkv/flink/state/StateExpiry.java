package io.fasterkv.flink.state;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.records.EntryCursor;
import io.fasterkv.flink.records.ListLayout;
import io.fasterkv.flink.records.MapLayout;
import io.fasterkv.flink.records.ValueLayout;
import java.io.IOException;
import java.nio.ByteOrder;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.runtime.state.ttl.TtlUtils;

/**
 * Which records of one state have expired as a whole: values, chunks of lists and buckets of maps
 * of which every element has. Part-expired ones stay as they are. So do the heads of lists in
 * chunks and of maps in buckets, which say nothing of time; they leave with a clear, or with the
 * TTL state that finds nothing behind them.
 *
 * <p>A value begins with its timestamp, 8 bytes, big-endian, as Flink's {@code TtlSerializer}
 * writes it. For one thread at a time.
 */
abstract sealed class StateExpiry {
  private final long ttlMillis;
  private final TtlTimeProvider time;

  private StateExpiry(long ttlMillis, TtlTimeProvider time) {
    this.ttlMillis = ttlMillis;
    this.time = time;
  }

  static StateExpiry of(RegisteredState<?, ?> state, long ttlMillis, TtlTimeProvider time) {
    return switch (state.type()) {
      case LIST ->
          new OfLists(
              ((ListSerializer<?>) state.valueSerializer()).getElementSerializer().duplicate(),
              ttlMillis,
              time);
      case MAP -> new OfMaps(ttlMillis, time);
      default -> new OfValues(ttlMillis, time);
    };
  }

  /** Whether the record with this sub number has to stay. */
  abstract boolean keeps(int sub, ByteSpan record);

  /** Whether a timestamp is there, and has not expired. */
  final boolean isAlive(ByteSpan record, int at) {
    return at + Long.BYTES > record.length() || isAlive(stamp(record, at));
  }

  final boolean isAlive(long timestamp) {
    return !TtlUtils.expired(timestamp, ttlMillis, time);
  }

  static long stamp(ByteSpan record, int at) {
    long bits = record.getLong(at);
    return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? bits : Long.reverseBytes(bits);
  }

  private static final class OfValues extends StateExpiry {
    OfValues(long ttlMillis, TtlTimeProvider time) {
      super(ttlMillis, time);
    }

    @Override
    boolean keeps(int sub, ByteSpan record) {
      if (sub != 0) {
        return isAlive(record, ValueLayout.PIECE_START_AT);
      }
      boolean isWhole = record.getByte(ValueLayout.TAG_AT) == ValueLayout.WHOLE;
      return isAlive(record, isWhole ? ValueLayout.TAG_BYTES : ValueLayout.START_AT);
    }
  }

  private static final class OfMaps extends StateExpiry {
    private static final byte NOT_NULL = 0;
    private final EntryCursor entries = new EntryCursor();

    OfMaps(long ttlMillis, TtlTimeProvider time) {
      super(ttlMillis, time);
    }

    @Override
    boolean keeps(int sub, ByteSpan record) {
      if (sub >= MapLayout.FIRST_RUN || sub < 0) {
        return isStampAlive(record, MapLayout.RUN_STAMP_AT);
      }
      if (sub == 0 && record.getByte(MapLayout.TAG_AT) == MapLayout.BUCKETS) {
        return true;
      }
      entries.on(
          record,
          sub == 0
              ? MapLayout.entriesAt(record.getByte(MapLayout.TAG_AT))
              : MapLayout.BUCKET_HEAD_BYTES);
      while (entries.next()) {
        if (isEntryAlive(record)) {
          return true;
        }
      }
      return false;
    }

    private boolean isEntryAlive(ByteSpan record) {
      int at = entries.stampAt();
      if (at < 0) {
        return true;
      }
      return entries.inRun()
          ? isStampAlive(record, at)
          : record.getByte(entries.valueAt()) != NOT_NULL || isAlive(record, at);
    }

    /** A value that is null has the stamp zero, and stays. */
    private boolean isStampAlive(ByteSpan record, int at) {
      return stamp(record, at) == 0 || isAlive(record, at);
    }
  }

  private static final class OfLists extends StateExpiry {
    private final TypeSerializer<?> serializer;
    private final DataInputDeserializer in = new DataInputDeserializer();

    OfLists(TypeSerializer<?> serializer, long ttlMillis, TtlTimeProvider time) {
      super(ttlMillis, time);
      this.serializer = serializer;
    }

    @Override
    boolean keeps(int sub, ByteSpan record) {
      int tagAt = sub == 0 ? ListLayout.TAG_AT : ListLayout.CHUNK_TAG_AT;
      byte tag = record.getByte(tagAt);
      if (sub == 0 && tag == ListLayout.CHUNKED) {
        return true;
      }
      // What was written first expires first, so that most are told by their first element.
      int elementsAt = tagAt + ListLayout.TAG_BYTES;
      if (isAlive(record, elementsAt)) {
        return true;
      }
      boolean isPiece = sub != 0 && (ListLayout.isWithin(tag) || ListLayout.goesOn(tag));
      return !isPiece && hasLiveElement(record.toArray(), elementsAt);
    }

    private boolean hasLiveElement(byte[] record, int elementsAt) {
      in.setBuffer(record, elementsAt, record.length - elementsAt);
      try {
        while (in.available() > 0) {
          int at = in.getPosition();
          if (isAlive(ByteSpan.of(record), at)) {
            return true;
          }
          serializer.deserialize(in);
          if (in.available() > 0) {
            in.skipBytesToRead(1);
          }
        }
        return false;
      } catch (IOException | RuntimeException notReadable) {
        // It may be from before a migration; then nobody needs it, and it is dropped as dead.
        return true;
      }
    }
  }
}
