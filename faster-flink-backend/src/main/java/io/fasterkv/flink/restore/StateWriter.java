package io.fasterkv.flink.restore;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.base.ValueLayout;
import io.fasterkv.flink.records.write.StateRecords;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;

/** Writes entries in Flink's savepoint format to the store. For the task thread. */
final class StateWriter {
  /** Length above which lists are split, so that they can be read piece by piece. */
  private static final int WHOLE_LIST_BYTES = 1 << 10;

  private final StateRecords records;
  private final Bytes scratch = new Bytes();
  private final DataInputDeserializer in = new DataInputDeserializer();

  StateWriter(StateRecords records) {
    this.records = records;
  }

  void putValue(CompositeKey key, byte[] value, int length) {
    scratch.clear();
    scratch.append(ValueLayout.WHOLE);
    scratch.append(value, 0, length);
    records.values().put(key, scratch.array(), scratch.length());
  }

  /** Puts a map entry. */
  void putMapEntry(CompositeKey key, byte[] entryKey, int userKeyAt, byte[] value, int length) {
    scratch.clear();
    scratch.append(entryKey, userKeyAt, entryKey.length - userKeyAt);
    int keyLength = scratch.length();
    scratch.append(value, 0, length);
    records.maps().put(key, scratch.array(), keyLength, length);
  }

  /** Appends a list. */
  void putList(CompositeKey key, byte[] list, int length, TypeSerializer<?> serializer)
      throws IOException {
    int together = Math.min(WHOLE_LIST_BYTES, records.lists().mostBytesTogether());
    if (length <= together) {
      records.lists().append(key, list, 0, length);
      return;
    }
    in.setBuffer(list, 0, length);
    int start = 0;
    int before = 0;
    while (in.available() > 0) {
      serializer.deserialize(in);
      int end = in.getPosition();
      if (before > start && end - start > together) {
        records.lists().append(key, list, start, before - start);
        start = before + 1;
      }
      before = end;
      if (in.available() > 0) {
        in.skipBytesToRead(1);
      }
    }
    records.lists().append(key, list, start, before - start);
  }

  void removeList(CompositeKey key) {
    records.lists().remove(key);
  }
}
