package io.fasterkv.flink.snapshot;

import io.fasterkv.flink.key.KeyLayout;
import java.io.IOException;
import java.util.Arrays;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.CompositeKeySerializationUtils;
import org.apache.flink.util.FlinkRuntimeException;

/**
 * Builds the keys of Flink's savepoint format from record keys.
 *
 * <pre>
 *   | key group: 1 or 2 | key | [its length] | namespace | [its length] | [user key] |
 * </pre>
 *
 * <p>The lengths are present only if both serializers write a varying number of bytes. The key of a
 * timer is the key group and the serialized timer.
 */
final class SavepointKey {
  private static final int FIRST_BYTES = 64;

  private final int prefixBytes;
  private final DataOutputSerializer out = new DataOutputSerializer(FIRST_BYTES);
  private int afterNamespace;

  SavepointKey(int keyGroupPrefixBytes) {
    this.prefixBytes = keyGroupPrefixBytes;
  }

  /** Starts the key of one state's key and namespace. */
  void start(byte[] bytes, int start, int length, boolean ambiguous) {
    int keyAt = KeyLayout.keyAt(bytes, start);
    int keyLength = KeyLayout.keyLength(bytes, start);
    int namespaceAt = keyAt + keyLength;
    int namespaceLength = start + length - KeyLayout.SUB_BYTES - namespaceAt;
    try {
      out.clear();
      CompositeKeySerializationUtils.writeKeyGroup(
          KeyLayout.keyGroup(bytes, start), prefixBytes, out);
      write(bytes, keyAt, keyLength, ambiguous);
      write(bytes, namespaceAt, namespaceLength, ambiguous);
      afterNamespace = out.length();
    } catch (IOException cause) {
      throw new FlinkRuntimeException("cannot write a key to memory", cause);
    }
  }

  /** Starts the key of a timer; the timer follows the key group. */
  void startTimer(int keyGroup) {
    try {
      out.clear();
      CompositeKeySerializationUtils.writeKeyGroup(keyGroup, prefixBytes, out);
      afterNamespace = out.length();
    } catch (IOException cause) {
      throw new FlinkRuntimeException("cannot write a key to memory", cause);
    }
  }

  private void write(byte[] bytes, int at, int length, boolean ambiguous) throws IOException {
    out.write(bytes, at, length);
    if (ambiguous) {
      CompositeKeySerializationUtils.writeVariableIntBytes(length, out);
    }
  }

  /** Length of the key without a user key. */
  int length() {
    return afterNamespace;
  }

  /** A new array with the key. */
  byte[] key() {
    return keyWith(new byte[0], 0, 0);
  }

  /** A new array with the key and a user key. */
  byte[] keyWith(byte[] userKey, int offset, int length) {
    byte[] key = Arrays.copyOf(out.getSharedBuffer(), afterNamespace + length);
    System.arraycopy(userKey, offset, key, afterNamespace, length);
    return key;
  }
}
