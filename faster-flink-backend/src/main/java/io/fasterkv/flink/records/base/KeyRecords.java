package io.fasterkv.flink.records.base;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.key.LongKeyLayout;

/**
 * Stores long keys, whose record keys have only a digest ({@link LongKeyLayout}). For one thread at
 * a time.
 *
 * <p>A key record is written after the head of its value. Only compaction drops it, if the value
 * has no head ({@code DeadParts}). Compaction decides first and drops later; in between, the value
 * may get a head again. So each operation that appends a head writes the key record again, and
 * compaction drops only the old one. An operation that updates a head in place writes no key
 * record: the head was never absent, so compaction did not decide to drop the key record.
 */
public final class KeyRecords {
  private final Records records;
  private final Values values;
  private final CompositeKey keyRecord = new CompositeKey();
  private final Bytes read = new Bytes();

  KeyRecords(Records records) {
    this.records = records;
    this.values = new Values(records);
  }

  /** Writes the key record of a value whose head was appended. */
  void put(CompositeKey key) {
    byte[] prefix = key.copyOfPrefix();
    int at = KeyLayout.KEY_LENGTH_AT;
    values.putPieces(keyRecord.setKeyRecord(key.head()), prefix, at, prefix.length - at);
  }

  /**
   * Selects the key and namespace of a head whose record key has a digest.
   *
   * @return false if the value was removed; its key record may then be incomplete
   */
  public boolean find(ByteSpan head, CompositeKey into) {
    if (!records.read(head, value -> {}) || !values.get(keyRecord.setKeyRecord(head), read)) {
      return false;
    }
    byte[] prefix = new byte[KeyLayout.KEY_LENGTH_AT + read.length() - ValueLayout.TAG_BYTES];
    head.copyTo(0, prefix, 0, KeyLayout.KEY_LENGTH_AT);
    System.arraycopy(
        read.array(),
        ValueLayout.TAG_BYTES,
        prefix,
        KeyLayout.KEY_LENGTH_AT,
        prefix.length - KeyLayout.KEY_LENGTH_AT);
    into.setPrefix(prefix, 0, prefix.length);
    return true;
  }
}
