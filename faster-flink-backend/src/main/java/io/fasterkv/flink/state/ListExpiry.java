package io.fasterkv.flink.state;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.config.KeepRule.Lookup;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.records.LoneHeads;
import io.fasterkv.flink.records.list.ListLayout;
import java.io.IOException;
import java.util.Arrays;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;

/**
 * Expires lists: the first elements of an inline list or a chunk, and the pieces of a long element
 * one by one. The element that was written first expires first, so the first element decides about
 * most records.
 */
final class ListExpiry extends StateExpiry {
  private final TypeSerializer<?> serializer;
  private final DataInputDeserializer in = new DataInputDeserializer();
  private final LoneHeads heads = new LoneHeads();

  ListExpiry(TypeSerializer<?> serializer, long ttlMillis, TtlTimeProvider time) {
    super(ttlMillis, time);
    this.serializer = serializer;
  }

  @Override
  boolean keeps(ByteSpan key, ByteSpan record, Lookup store) {
    int sub = KeyLayout.sub(key);
    if (isHeadOfChunks(sub, record)) {
      return !heads.isListWithoutChunks(key, record, store);
    }
    long now = now();
    return isAlive(record, elementsAt(sub), now)
        || (!isPiece(sub, record) && firstAlive(record, elementsAt(sub), now) < record.length());
  }

  @Override
  ByteSpan trimmed(int sub, ByteSpan record) {
    int from = elementsAt(sub);
    long now = now();
    if (isHeadOfChunks(sub, record) || isPiece(sub, record) || isAlive(record, from, now)) {
      return record;
    }
    int firstAlive = firstAlive(record, from, now);
    if (firstAlive == record.length()) {
      return record;
    }
    int expired = firstAlive - from;
    byte[] bytes = record.toArray();
    byte[] alive = Arrays.copyOf(bytes, bytes.length - expired);
    System.arraycopy(bytes, from + expired, alive, from, alive.length - from);
    return ByteSpan.of(alive);
  }

  private static boolean isHeadOfChunks(int sub, ByteSpan record) {
    return sub == 0 && record.getByte(ListLayout.TAG_AT) == ListLayout.CHUNKED;
  }

  /** Whether the record has only a part of an element. */
  private static boolean isPiece(int sub, ByteSpan record) {
    if (sub == 0) {
      return false;
    }
    byte tag = record.getByte(ListLayout.CHUNK_TAG_AT);
    return ListLayout.isWithin(tag) || ListLayout.isContinued(tag);
  }

  private static int elementsAt(int sub) {
    return (sub == 0 ? ListLayout.TAG_AT : ListLayout.CHUNK_TAG_AT) + ListLayout.TAG_BYTES;
  }

  /** Position of the first element that has not expired; the record's length if all have. */
  private int firstAlive(ByteSpan record, int from, long now) {
    byte[] bytes = record.toArray();
    in.setBuffer(bytes, from, bytes.length - from);
    try {
      while (in.available() > 0) {
        int at = in.getPosition();
        if (isAlive(record, at, now)) {
          return at;
        }
        serializer.deserialize(in);
        if (in.available() > 0) {
          in.skipBytesToRead(1);
        }
      }
      return record.length();
    } catch (IOException | RuntimeException notReadable) {
      // The record may be from before a migration. It is then dead, and compaction drops it.
      return from;
    }
  }
}
