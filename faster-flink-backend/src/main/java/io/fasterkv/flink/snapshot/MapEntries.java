package io.fasterkv.flink.snapshot;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.records.map.EntryCursor;
import io.fasterkv.flink.records.map.MapLayout;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;

/**
 * Reads maps: blocks, which hold entries, and runs, which hold one long entry in several records.
 * Makes one entry for an entry of the map. A run may have expired.
 */
final class MapEntries extends EntryReader {
  private final ByteSpan block = new ByteSpan();
  private final EntryCursor cursor = new EntryCursor().on(block, 0);

  /** The runs that the map names; other runs have expired, and compaction will drop them. */
  private final BitSet runs = new BitSet();

  /** Number of the record in which the current run continues, or 0. */
  private int nextOfRun;

  private boolean isRunComplete;

  MapEntries(SavepointValue of) {
    super(of);
  }

  @Override
  void read(int sub) {
    if (sub >= MapLayout.FIRST_RUN) {
      readRun(sub);
      return;
    }
    byte[] bytes = records.valueBytes();
    int start = records.valueStart();
    byte tag = bytes[start + MapLayout.TAG_AT];
    int firstEntry = sub == 0 ? MapLayout.entriesAt(tag) : MapLayout.BUCKET_HEAD_BYTES;
    if (sub != 0 || tag != MapLayout.BUCKETS) {
      int length = records.valueLength();
      block.wrap(MemorySegment.ofArray(bytes), start, length, length);
      cursor.on(block, firstEntry);
    }
  }

  /** Reads a record of a run; an incomplete run has expired. */
  private void readRun(int sub) {
    boolean isFirst =
        MapLayout.isFirst(records.valueBytes()[records.valueStart() + MapLayout.RUN_TAG_AT]);
    boolean isNamed = isFirst && runs.get(sub - MapLayout.FIRST_RUN);
    if (nextOfRun != 0 && (isFirst || sub != nextOfRun)) {
      of.checkMayMiss();
    }
    if (isNamed) {
      gathered.clear();
      runs.clear(sub - MapLayout.FIRST_RUN);
    } else if (isFirst || sub != nextOfRun) {
      nextOfRun = 0;
      return;
    }
    gather(MapLayout.RUN_RECORD_BYTES);
    isRunComplete =
        gathered.length() >= MapLayout.RUN_HEAD_BYTES + MapLayout.runLength(gathered.array(), 0);
    nextOfRun = isRunComplete ? 0 : sub + 1;
  }

  @Override
  boolean next() {
    while (cursor.next()) {
      if (!cursor.inRun()) {
        takeEntry();
        return true;
      }
      runs.set(cursor.run() - MapLayout.FIRST_RUN);
    }
    if (!isRunComplete) {
      return false;
    }
    isRunComplete = false;
    takeRun();
    return true;
  }

  private void takeEntry() {
    byte[] userKey = new byte[cursor.keyLength()];
    block.copyTo(cursor.keyAt(), userKey, 0, userKey.length);
    byte[] value = new byte[cursor.valueLength()];
    block.copyTo(cursor.valueAt(), value, 0, value.length);
    take(of.key().keyWith(userKey, 0, userKey.length), value);
  }

  private void takeRun() {
    byte[] run = gathered.array();
    int keyLength = MapLayout.runKeyLength(run, 0);
    int valueAt = MapLayout.RUN_HEAD_BYTES + keyLength;
    int end = MapLayout.RUN_HEAD_BYTES + MapLayout.runLength(run, 0);
    take(
        of.key().keyWith(run, MapLayout.RUN_HEAD_BYTES, keyLength),
        Arrays.copyOfRange(run, valueAt, end));
    gathered.clear();
  }

  @Override
  void end() {
    if (nextOfRun != 0 || !runs.isEmpty()) {
      of.checkMayMiss();
    }
    nextOfRun = 0;
    runs.clear();
    gathered.clear();
  }
}
