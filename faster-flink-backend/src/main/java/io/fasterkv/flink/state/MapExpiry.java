package io.fasterkv.flink.state;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.config.KeepRule.Lookup;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.records.LoneHeads;
import io.fasterkv.flink.records.map.EntryCursor;
import io.fasterkv.flink.records.map.EntryLife;
import io.fasterkv.flink.records.map.MapLayout;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;

/** Expires maps: inline maps and buckets entry by entry, and runs record by record. */
final class MapExpiry extends StateExpiry implements EntryLife {
  private static final byte NOT_NULL = 0;
  private final EntryCursor entries = new EntryCursor();
  private final LoneHeads heads = new LoneHeads();

  MapExpiry(long ttlMillis, TtlTimeProvider time) {
    super(ttlMillis, time);
  }

  @Override
  boolean keeps(ByteSpan key, ByteSpan record, Lookup store) {
    int sub = KeyLayout.sub(key);
    if (isOfRun(sub)) {
      return isStampAlive(record, MapLayout.RUN_STAMP_AT, now());
    }
    if (isHeadOfBuckets(sub, record)) {
      return !heads.isMapWithoutBuckets(key, record, store);
    }
    long now = now();
    entries.on(record, entriesAt(sub, record));
    while (entries.next()) {
      if (isAlive(record, entries, now)) {
        return true;
      }
    }
    return false;
  }

  @Override
  ByteSpan trimmed(int sub, ByteSpan record) {
    if (isOfRun(sub) || isHeadOfBuckets(sub, record)) {
      return record;
    }
    long now = now();
    int from = entriesAt(sub, record);
    int aliveBytes = 0;
    entries.on(record, from);
    while (entries.next()) {
      aliveBytes += isAlive(record, entries, now) ? entries.length() : 0;
    }
    return aliveBytes == 0 || from + aliveBytes == record.length()
        ? record
        : alive(ByteSpan.of(record.toArray()), from, now);
  }

  private ByteSpan alive(ByteSpan copy, int from, long now) {
    entries.on(copy, from);
    while (entries.next()) {
      if (!isAlive(copy, entries, now)) {
        entries.remove();
      }
    }
    return copy;
  }

  private static boolean isOfRun(int sub) {
    return sub >= MapLayout.FIRST_RUN || sub < 0;
  }

  private static boolean isHeadOfBuckets(int sub, ByteSpan record) {
    return sub == 0 && record.getByte(MapLayout.TAG_AT) == MapLayout.BUCKETS;
  }

  private static int entriesAt(int sub, ByteSpan record) {
    return sub == 0
        ? MapLayout.entriesAt(record.getByte(MapLayout.TAG_AT))
        : MapLayout.BUCKET_HEAD_BYTES;
  }

  @Override
  public boolean isAlive(ByteSpan block, EntryCursor entry, long now) {
    int at = entry.stampAt();
    if (at < 0) {
      return true;
    }
    return entry.inRun()
        ? isStampAlive(block, at, now)
        : block.getByte(entry.valueAt()) != NOT_NULL || isAlive(block, at, now);
  }

  /** Whether a stamp has not expired. A null value has the stamp zero and never expires. */
  private boolean isStampAlive(ByteSpan record, int at, long now) {
    return stamp(record, at) == 0 || isAlive(record, at, now);
  }
}
