package io.fasterkv.flink.snapshot;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.records.Bytes;
import io.fasterkv.flink.records.EntryCursor;
import io.fasterkv.flink.records.ListLayout;
import io.fasterkv.flink.records.MapLayout;
import io.fasterkv.flink.records.PartLayout;
import io.fasterkv.flink.records.TreeCursor;
import io.fasterkv.flink.records.TreeLayout;
import io.fasterkv.flink.records.ValueLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.runtime.state.StateSnapshotTransformer;

/**
 * Turns sorted records into the entries of Flink's savepoint format, in the same order: one for a
 * single value or a list, one for each entry of a map, one for each timer. For one thread.
 */
public final class SavepointEntries {
  private static final byte[] NO_VALUE = new byte[0];

  private final SortedRecords records;
  private final int mostBytes;
  private final List<StateExport> exports;
  private final SavepointKey savepointKey;
  private final ByteSpan block = new ByteSpan();
  private final EntryCursor cursor = new EntryCursor().on(block, 0);
  private final ByteSpan leaf = new ByteSpan();
  private final TreeCursor timers = new TreeCursor();
  private final Bytes gathered = new Bytes();
  private byte[] prefix = new byte[0];

  /** Of the value at hand: parts with another are left over from others. */
  private long identity;

  /** How many bytes are still to come of what is being gathered. */
  private int missing;

  /** How many chunks are still to come of the list that is being gathered. */
  private int missingChunks;

  /** A list in chunks is being gathered; it ends where the next head is. */
  private boolean isListOpen;

  /** The records are at a head that was not looked at yet. */
  private boolean isHeadWaiting;

  /** The last chunk goes on in the next, which has this number. */
  private int goesOnAt;

  /** Where the element begins that it goes on with. */
  private int elementAt;

  private int nextOfRun;

  /** The runs that the map at hand names; others have expired, and compaction will come by them. */
  private final BitSet runs = new BitSet();

  private int keyGroup;
  private int stateId;
  private byte[] key = new byte[0];
  private byte[] value = new byte[0];

  SavepointEntries(SortedRecords records, List<StateExport> exports, int keyGroupPrefixBytes) {
    // With room for a separator.
    this(records, exports, keyGroupPrefixBytes, Bytes.MOST_BYTES - 1);
  }

  /**
   * With another limit, for tests.
   *
   * @param mostBytes how long what is gathered may get
   */
  SavepointEntries(
      SortedRecords records, List<StateExport> exports, int keyGroupPrefixBytes, int mostBytes) {
    this.records = records;
    this.mostBytes = mostBytes;
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
        if (cursor.inRun()) {
          runs.set(cursor.run() - MapLayout.FIRST_RUN);
        } else if (takeMapEntry()) {
          return true;
        }
      }
      while (timers.next()) {
        if (!TreeLayout.isLong(timers.keyLength())) {
          takeTimer(leaf, timers.keyAt(), timers.keyLength());
          return true;
        }
      }
      boolean isAtRecord = isHeadWaiting || records.next();
      isHeadWaiting = false;
      if (!isAtRecord || isAtHead()) {
        endValue();
      }
      if (isListOpen && (!isAtRecord || isAtHead())) {
        isHeadWaiting = isAtRecord;
        isListOpen = false;
        if (finishList()) {
          return true;
        }
        continue;
      }
      if (!isAtRecord) {
        return false;
      }
      if (readRecord()) {
        return true;
      }
    }
  }

  private boolean isAtHead() {
    return KeyLayout.sub(records.keyBytes(), records.keyStart(), records.keyLength()) == 0;
  }

  /** What is still to come of the value at hand has expired, if anything. */
  private void endValue() {
    if (missing > 0 || missingChunks > 0 || nextOfRun != 0 || !runs.isEmpty()) {
      checkMayMiss();
    }
    missing = 0;
    missingChunks = 0;
    nextOfRun = 0;
    runs.clear();
  }

  private void checkMayMiss() {
    if (!export().isTimed()) {
      throw new IllegalStateException(
          "a part of a value is missing, the store is damaged: state="
              + export().name()
              + ", keyGroup="
              + keyGroup
              + "; restore the job from a checkpoint, and report this as a bug");
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
      goesOnAt = 0;
      identity =
          isBlock(bytes, start)
              ? PartLayout.NONE
              : PartLayout.ofHead(records.valueBytes(), records.valueStart());
    } else if (!belongs(bytes, start, length) || !isOwn(bytes, start)) {
      return false;
    }
    return switch (export().shape()) {
      case LIST -> readList(sub);
      case MAP -> readMap(sub);
      case SINGLE -> readSingle(sub) && finishGathered();
      case QUEUE -> isBlock(bytes, start) ? readBlock(sub) : readSingle(sub) && finishTimer();
    };
  }

  private boolean belongs(byte[] bytes, int start, int length) {
    int end = start + length - KeyLayout.SUB_BYTES;
    return Arrays.equals(bytes, start, end, prefix, 0, prefix.length);
  }

  /** Whether a part is the value's, and not left over from another. */
  private boolean isOwn(byte[] bytes, int start) {
    return isBlock(bytes, start)
        || PartLayout.ofPart(records.valueBytes(), records.valueStart()) == identity;
  }

  private boolean isBlock(byte[] bytes, int start) {
    return export().shape() == StateExport.Shape.QUEUE && KeyLayout.keyLength(bytes, start) == 0;
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
    if (missing <= 0) {
      return false;
    }
    gather(ValueLayout.PIECE_HEAD_BYTES);
    missing -= gathered.length() - before;
    return missing == 0;
  }

  /** Reads a list's head or a chunk; an element of which not all is there has expired. */
  private boolean readList(int sub) {
    byte[] bytes = records.valueBytes();
    int start = records.valueStart();
    if (sub == 0 && bytes[start + ListLayout.TAG_AT] == ListLayout.CHUNKED) {
      isListOpen = true;
      missingChunks = ListLayout.lastChunk(bytes, start);
      return false;
    }
    if (sub == 0) {
      gather(ListLayout.TAG_BYTES);
      return finishGathered();
    }
    missingChunks--;
    byte tag = bytes[start + ListLayout.CHUNK_TAG_AT];
    boolean isNext = goesOnAt == sub;
    if (goesOnAt != 0 && !(isNext && ListLayout.isWithin(tag))) {
      gathered.setLength(elementAt);
      goesOnAt = 0;
    }
    if (ListLayout.isWithin(tag)) {
      if (!isNext) {
        return false;
      }
    } else {
      elementAt = gathered.length();
      if (elementAt > 0) {
        gathered.append(ListLayout.SEPARATOR);
      }
    }
    gather(ListLayout.headBytes(tag));
    goesOnAt = ListLayout.goesOn(tag) ? sub + 1 : 0;
    return false;
  }

  private boolean finishList() {
    if (goesOnAt != 0) {
      gathered.setLength(elementAt);
    }
    return gathered.length() > 0 && finishGathered();
  }

  private boolean readMap(int sub) {
    byte[] bytes = records.valueBytes();
    int start = records.valueStart();
    if (sub >= MapLayout.FIRST_RUN) {
      return readRun(sub);
    }
    byte tag = bytes[start + MapLayout.TAG_AT];
    int firstEntry = sub == 0 ? MapLayout.entriesAt(tag) : MapLayout.BUCKET_HEAD_BYTES;
    if (sub != 0 || tag != MapLayout.BUCKETS) {
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

  /** Reads a record of a run; a run of which not all is there has expired. */
  private boolean readRun(int sub) {
    boolean isFirst =
        MapLayout.isFirst(records.valueBytes()[records.valueStart() + MapLayout.RUN_TAG_AT]);
    boolean isNamed = isFirst && runs.get(sub - MapLayout.FIRST_RUN);
    if (nextOfRun != 0 && (isFirst || sub != nextOfRun)) {
      checkMayMiss();
    }
    if (isNamed) {
      gathered.clear();
      runs.clear(sub - MapLayout.FIRST_RUN);
    } else if (isFirst || sub != nextOfRun) {
      nextOfRun = 0;
      return false;
    }
    nextOfRun = sub + 1;
    gather(MapLayout.RUN_RECORD_BYTES);
    int whole = MapLayout.RUN_HEAD_BYTES + MapLayout.runLength(gathered.array(), 0);
    if (gathered.length() < whole) {
      return false;
    }
    int keyLength = MapLayout.runKeyLength(gathered.array(), 0);
    int valueAt = MapLayout.RUN_HEAD_BYTES + keyLength;
    nextOfRun = 0;
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
    int count = records.valueLength() - skip;
    if (gathered.length() > mostBytes - count) {
      throw tooLong();
    }
    gathered.append(records.valueBytes(), records.valueStart() + skip, count);
  }

  private IllegalStateException tooLong() {
    return new IllegalStateException(
        "a value is too long for Flink's savepoint format, which has a list, and any other value,"
            + " in one array: state="
            + export().name()
            + ", keyGroup="
            + keyGroup
            + ", allowed=up to "
            + mostBytes
            + " bytes; take incremental checkpoints and native savepoints, which have no such limit"
            + " ("
            + CheckpointingOptions.INCREMENTAL_CHECKPOINTS.key()
            + ": true), or spread the state over more keys");
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
