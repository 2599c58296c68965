package io.fasterkv.flink.records.write;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.base.Values;
import io.fasterkv.flink.records.list.ByteLists;
import io.fasterkv.flink.records.map.ByteMaps;

/** Makes each write immediately. */
record DirectWrites(Values values, ByteLists lists, ByteMaps maps) implements StateWrites {
  @Override
  public void putValue(CompositeKey key, byte[] bytes, int offset, int length) {
    values.put(key, bytes, offset, length);
  }

  @Override
  public void removeValue(CompositeKey key) {
    values.remove(key);
  }

  @Override
  public void setList(CompositeKey key, byte[] elements, int offset, int count) {
    lists.set(key, elements, offset, count);
  }

  @Override
  public void append(CompositeKey key, byte[] elements, int offset, int count) {
    lists.append(key, elements, offset, count);
  }

  @Override
  public void removeList(CompositeKey key) {
    lists.remove(key);
  }

  @Override
  public void putEntry(CompositeKey key, byte[] bytes, int offset, int keyLength, int valueLength) {
    maps.put(key, bytes, offset, keyLength, valueLength);
  }

  @Override
  public void removeEntry(CompositeKey key, byte[] bytes, int offset, int length) {
    maps.remove(key, bytes, offset, length);
  }

  @Override
  public void clearMap(CompositeKey key) {
    maps.clear(key);
  }
}
