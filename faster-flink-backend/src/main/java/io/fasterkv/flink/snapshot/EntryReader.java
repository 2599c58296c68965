package io.fasterkv.flink.snapshot;

import io.fasterkv.flink.records.base.Bytes;
import java.util.Arrays;
import org.apache.flink.configuration.CheckpointingOptions;

/**
 * Makes entries of Flink's savepoint format from the records of one value at a time. For each
 * record, {@link #read} is followed by {@link #next} until that returns false; so is {@link #end},
 * which follows the last record. For one thread.
 */
abstract class EntryReader {
  private static final byte[] NO_VALUE = new byte[0];

  final SavepointValue of;
  final SortedRecords records;

  /** The bytes read so far of an entry that spans records. */
  final Bytes gathered = new Bytes();

  private byte[] key = new byte[0];
  private byte[] value = new byte[0];

  EntryReader(SavepointValue of) {
    this.of = of;
    this.records = of.records();
  }

  /**
   * Reads one record of the value.
   *
   * @param sub its number; 0 is the head, with which a value starts
   */
  abstract void read(int sub);

  /** Moves to the next entry of what was read; returns false if it needs another record. */
  abstract boolean next();

  /** Ends the value; what is still missing from it has expired. */
  abstract void end();

  /** A new array with the entry's key. */
  final byte[] key() {
    return key;
  }

  /** A new array with the entry's value. */
  final byte[] value() {
    return value;
  }

  /** Appends the record's value without its first {@code skip} bytes. */
  final void gather(int skip) {
    int count = records.valueLength() - skip;
    if (gathered.length() > of.mostBytes() - count) {
      throw tooLong();
    }
    gathered.append(records.valueBytes(), records.valueStart() + skip, count);
  }

  private IllegalStateException tooLong() {
    return new IllegalStateException(
        "a value is too long for Flink's savepoint format, which has a list, and any other value,"
            + " in one array: state="
            + of.export().name()
            + ", keyGroup="
            + of.keyGroup()
            + ", allowed=up to "
            + of.mostBytes()
            + " bytes; take incremental checkpoints and native savepoints, which have no such limit"
            + " ("
            + CheckpointingOptions.INCREMENTAL_CHECKPOINTS.key()
            + ": true), or spread the state over more keys");
  }

  /** Uses the gathered bytes as the value of the entry. */
  final void takeGathered() {
    take(of.key().key(), Arrays.copyOf(gathered.array(), gathered.length()));
    gathered.clear();
  }

  /** Makes an entry without a value: a timer. */
  final void takeTimer(byte[] timer, int length) {
    take(of.key().keyWith(timer, 0, length), NO_VALUE);
  }

  final void take(byte[] entryKey, byte[] entryValue) {
    key = entryKey;
    value = entryValue;
  }
}
