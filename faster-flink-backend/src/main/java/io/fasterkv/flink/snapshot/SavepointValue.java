package io.fasterkv.flink.snapshot;

import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.records.base.PartLayout;
import java.util.Arrays;
import java.util.List;

/**
 * The value whose records are being read: its key, its state, and its incarnation, which tells its
 * parts from those of an older value. For one thread.
 */
final class SavepointValue {
  private final SortedRecords records;
  private final List<StateExport> exports;
  private final SavepointKey key;

  /** Maximum length of an entry's value. */
  private final int mostBytes;

  private byte[] prefix = new byte[0];
  private int keyGroup;
  private int stateId;
  private long incarnation;

  SavepointValue(
      SortedRecords records, List<StateExport> exports, SavepointKey key, int mostBytes) {
    this.records = records;
    this.exports = exports;
    this.key = key;
    this.mostBytes = mostBytes;
  }

  /** Starts the value whose head is the current record. */
  void start() {
    byte[] bytes = records.keyBytes();
    int start = records.keyStart();
    int length = records.keyLength();
    keyGroup = KeyLayout.keyGroup(bytes, start);
    stateId = KeyLayout.state(bytes, start);
    prefix = Arrays.copyOfRange(bytes, start, start + length - KeyLayout.SUB_BYTES);
    if (export().shape() == StateExport.Shape.QUEUE) {
      key.startTimer(keyGroup);
    } else {
      key.start(bytes, start, length, export().ambiguous());
    }
    incarnation =
        isBlock() ? PartLayout.NONE : PartLayout.ofHead(records.valueBytes(), records.valueStart());
  }

  /** Whether the current record is a part of this value. */
  boolean owns() {
    byte[] bytes = records.keyBytes();
    int start = records.keyStart();
    int end = start + records.keyLength() - KeyLayout.SUB_BYTES;
    return Arrays.equals(bytes, start, end, prefix, 0, prefix.length)
        && (isBlock()
            || PartLayout.ofPart(records.valueBytes(), records.valueStart()) == incarnation);
  }

  /** Whether the current record is a block of a timer queue. */
  boolean isBlock() {
    return export().shape() == StateExport.Shape.QUEUE
        && KeyLayout.keyLength(records.keyBytes(), records.keyStart()) == 0;
  }

  /** The number of the current record within its value; 0 is the head. */
  int sub() {
    return KeyLayout.sub(records.keyBytes(), records.keyStart(), records.keyLength());
  }

  SortedRecords records() {
    return records;
  }

  StateExport export() {
    return exports.get(stateId);
  }

  SavepointKey key() {
    return key;
  }

  byte[] prefix() {
    return prefix;
  }

  int keyGroup() {
    return keyGroup;
  }

  int stateId() {
    return stateId;
  }

  int mostBytes() {
    return mostBytes;
  }

  /** Throws if a part of the value is missing although nothing of it can have expired. */
  void checkMayMiss() {
    if (!export().isTimed()) {
      throw new IllegalStateException(
          "a part of a value is missing, the store is damaged: state="
              + export().name()
              + ", keyGroup="
              + keyGroup
              + "; restore the job from a checkpoint, and report this as a bug");
    }
  }
}
