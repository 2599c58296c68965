package io.fasterkv.flink.snapshot;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.records.Bytes;
import io.fasterkv.flink.records.EntryCursor;
import io.fasterkv.flink.records.ListLayout;
import io.fasterkv.flink.records.MapLayout;
import io.fasterkv.flink.records.TreeCursor;
import io.fasterkv.flink.records.TreeLayout;
import io.fasterkv.flink.records.ValueLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.runtime.state.StateSnapshotTransformer;

/**
 * Turns sorted records into the entries of Flink's savepoint format, in the same order: one for a
 * single value or a list, one for each entry of a map, one for each timer. For one thread.
 */
public final class SavepointEntries {
  private static final byte[] NO_VALUE = new byte[0];

  private final SortedRecords records;
  private final List<StateExport> exports;
  private final SavepointKey savepointKey;
  private final ByteSpan block = new ByteSpan();
  private final EntryCursor cursor = new EntryCursor().on(block, 0);
  private final ByteSpan leaf = new ByteSpan();
  private final TreeCursor timers = new TreeCursor();
  private final Bytes gathered = new Bytes();
  private byte[] prefix = new byte[0];

  /** What is still to come of what is being gathered: bytes, or the number of a last chunk. */
  private int missing;

  private int keyGroup;
  private int stateId;
  private byte[] key = new byte[0];
  private byte[] value = new byte[0];

  SavepointEntries(SortedRecords records, List<StateExport> exports, int keyGroupPrefixBytes) {
    this.records = records;
    this.exports = exports;
    this.savepointKey = new SavepointKey(keyGroupPrefixBytes);
  }

  /** The record key of what the entry belongs to, without the sub number. */
  public byte[] prefix() {
    return prefix;
  }

  int keyGroup() {
    return keyGroup;
  }

  int stateId() {
    return stateId;
  }

  /** A fresh array; a map entry's user key starts at {@link #userKeyAt}. */
  public byte[] key() {
    return key;
  }

  public int userKeyAt() {
    return savepointKey.length();
  }

  /** A fresh array. */
  public byte[] value() {
    return value;
  }

  /** Steps to the next entry; false at the end. */
  public boolean next() throws IOException {
    while (true) {
      while (cursor.next()) {
        if (!cursor.inRun() && takeMapEntry()) {
          return true;
        }
      }
      while (timers.next()) {
        if (!TreeLayout.isLong(timers.keyLength())) {
          takeTimer(leaf, timers.keyAt(), timers.keyLength());
          return true;
        }
      }
      if (!records.next()) {
        return false;
      }
      if (readRecord()) {
        return true;
      }
    }
  }

  /** Reads one record; true if an entry is complete with it and stays. */
  private boolean readRecord() {
    byte[] bytes = records.keyBytes();
    int start = records.keyStart();
    int length = records.keyLength();
    int sub = KeyLayout.sub(bytes, start, length);
    if (sub == 0) {
      keyGroup = KeyLayout.keyGroup(bytes, start);
      stateId = KeyLayout.state(bytes, start);
      prefix = Arrays.copyOfRange(bytes, start, start + length - KeyLayout.SUB_BYTES);
      if (export().shape() == StateExport.Shape.QUEUE) {
        savepointKey.startTimer(keyGroup);
      } else {
        savepointKey.start(bytes, start, length, export().ambiguous());
      }
      gathered.clear();
      missing = 0;
    } else {
      checkBelongs(bytes, start, length);
    }
    return switch (export().shape()) {
      case LIST -> readList(sub);
      case MAP -> readMap(sub);
      case SINGLE -> readSingle(sub) && finishGathered();
      case QUEUE ->
          KeyLayout.keyLength(bytes, start) == 0
              ? readBlock(sub)
              : readSingle(sub) && finishTimer();
    };
  }

  private void checkBelongs(byte[] bytes, int start, int length) {
    int end = start + length - KeyLayout.SUB_BYTES;
    if (!Arrays.equals(bytes, start, end, prefix, 0, prefix.length)) {
      throw new IllegalStateException(
          "a part of a value has no head record: state=" + KeyLayout.state(bytes, start));
    }
  }

  private StateExport export() {
    return exports.get(stateId);
  }

  /** Gathers a single value; true if it is complete. */
  private boolean readSingle(int sub) {
    byte[] bytes = records.valueBytes();
    int start = records.valueStart();
    if (sub == 0 && bytes[start] == ValueLayout.PIECES) {
      missing = ValueLayout.lengthInPieces(bytes, start);
      return false;
    }
    if (sub == 0) {
      gather(ValueLayout.TAG_BYTES);
      return true;
    }
    int before = gathered.length();
    gather(0);
    missing -= gathered.length() - before;
    return missing == 0;
  }

  private boolean readList(int sub) {
    byte[] bytes = records.valueBytes();
    int start = records.valueStart();
    if (sub == 0 && bytes[start] == ListLayout.CHUNKED) {
      missing = ListLayout.lastChunk(bytes, start);
      return false;
    }
    byte tag = bytes[start];
    gather(ListLayout.TAG_BYTES);
    if (sub == missing) {
      return finishGathered();
    }
    if (tag == ListLayout.ENDS) {
      gathered.append(ListLayout.SEPARATOR);
    }
    return false;
  }

  private boolean readMap(int sub) {
    byte[] bytes = records.valueBytes();
    int start = records.valueStart();
    if (sub >= MapLayout.FIRST_RUN) {
      return readRun();
    }
    int firstEntry = sub == 0 ? MapLayout.INLINE_HEAD_BYTES : 0;
    if (sub != 0 || bytes[start] == MapLayout.INLINE) {
      int length = records.valueLength();
      block.wrap(MemorySegment.ofArray(bytes), start, length, length);
      cursor.on(block, firstEntry);
    }
    return false;
  }

  /** A block of a timer queue: of leaves, the timers that lie in them. */
  private boolean readBlock(int number) {
    byte[] bytes = records.valueBytes();
    int start = records.valueStart();
    if (bytes[start + TreeLayout.LEVEL_AT] == TreeLayout.LEAF) {
      int length = records.valueLength();
      leaf.wrap(MemorySegment.ofArray(bytes), start, length, length);
      timers.on(leaf, number);
    }
    return false;
  }

  private void takeTimer(ByteSpan bytes, int at, int length) {
    byte[] timer = new byte[length];
    bytes.copyTo(at, timer, 0, length);
    key = savepointKey.keyWith(timer, 0, length);
    value = NO_VALUE;
  }

  /** A timer that is too long for a leaf. */
  private boolean finishTimer() {
    key = savepointKey.keyWith(gathered.array(), 0, gathered.length());
    value = NO_VALUE;
    gathered.clear();
    return true;
  }

  private boolean readRun() {
    gather(0);
    int whole = MapLayout.RUN_HEAD_BYTES + MapLayout.runLength(gathered.array(), 0);
    if (gathered.length() < whole) {
      return false;
    }
    int keyLength = MapLayout.runKeyLength(gathered.array(), 0);
    int valueAt = MapLayout.RUN_HEAD_BYTES + keyLength;
    key = savepointKey.keyWith(gathered.array(), MapLayout.RUN_HEAD_BYTES, keyLength);
    value = Arrays.copyOfRange(gathered.array(), valueAt, whole);
    gathered.clear();
    return filter();
  }

  private boolean takeMapEntry() {
    byte[] userKey = new byte[cursor.keyLength()];
    block.copyTo(cursor.keyAt(), userKey, 0, userKey.length);
    key = savepointKey.keyWith(userKey, 0, userKey.length);
    value = new byte[cursor.valueLength()];
    block.copyTo(cursor.valueAt(), value, 0, value.length);
    return filter();
  }

  /** Gathers the record's value without its first {@code skip} bytes. */
  private void gather(int skip) {
    try {
      gathered.append(
          records.valueBytes(), records.valueStart() + skip, records.valueLength() - skip);
    } catch (ArithmeticException tooLong) {
      throw new IllegalStateException(
          "a value is too long for Flink's savepoint format, which holds it in one array: bytes="
              + gathered.length(),
          tooLong);
    }
  }

  private boolean finishGathered() {
    key = savepointKey.key();
    value = Arrays.copyOf(gathered.array(), gathered.length());
    gathered.clear();
    return filter();
  }

  /** Lets the state's filter see the entry; false if it is dropped. */
  private boolean filter() {
    StateSnapshotTransformer<byte[]> filter = export().filter();
    if (filter == null) {
      return true;
    }
    byte[] kept = filter.filterOrTransform(value);
    if (kept == null) {
      return false;
    }
    value = kept;
    return true;
  }
}
