package io.fasterkv.flink.restore;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.key.KeySpace;
import io.fasterkv.flink.state.RegisteredState;
import java.io.IOException;
import java.util.Arrays;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.state.CompositeKeySerializationUtils;

/**
 * Splits the keys of one state in Flink's savepoint format. It deserializes a key or namespace to
 * find its end, because the lengths that serializers report do not always match what they write.
 * For one thread.
 */
final class SavepointKeyReader {
  private final RegisteredState<?, ?> state;
  private final TypeSerializer<?> keySerializer;
  private final TypeSerializer<?> namespaceSerializer;
  private final int prefixBytes;
  private final boolean ambiguous;
  private final boolean map;
  private final DataInputDeserializer in = new DataInputDeserializer();
  private final CompositeKey composite = new CompositeKey();
  private byte[] last = new byte[0];
  private int userKeyAt;

  SavepointKeyReader(RegisteredState<?, ?> state, KeySpace<?> keys) {
    this.state = state;
    this.keySerializer = keys.serializer();
    this.namespaceSerializer = state.namespaceSerializer();
    this.prefixBytes = keys.savepointPrefixBytes();
    this.ambiguous = keys.ambiguousWith(namespaceSerializer);
    this.map = state.type() == StateDescriptor.Type.MAP;
  }

  /** The record keys for a savepoint's key; valid until the next call. */
  CompositeKey read(byte[] key, int keyGroup) throws IOException {
    if (map && startsLikeLast(key)) {
      return composite;
    }
    in.setBuffer(key, prefixBytes, key.length - prefixBytes);
    int keyAt = in.getPosition();
    int keyLength = skip(keySerializer);
    int namespaceAt = in.getPosition();
    int namespaceLength = map ? skip(namespaceSerializer) : restOf(key.length - namespaceAt);
    userKeyAt = in.getPosition();
    composite.setKey(keyGroup, key, keyAt, keyLength);
    composite.select(state.id(), key, namespaceAt, namespaceLength);
    last = key;
    return composite;
  }

  /** Start of a map entry's user key in the last key that was read. */
  int userKeyAt() {
    return userKeyAt;
  }

  /**
   * Whether the key belongs to the same map as the last one: the entries of a map are consecutive.
   */
  private boolean startsLikeLast(byte[] key) {
    return userKeyAt > 0
        && key.length >= userKeyAt
        && Arrays.equals(key, 0, userKeyAt, last, 0, userKeyAt);
  }

  /** Deserializes and returns the number of bytes read. */
  private int skip(TypeSerializer<?> serializer) throws IOException {
    int start = in.getPosition();
    serializer.deserialize(in);
    int length = in.getPosition() - start;
    if (ambiguous) {
      CompositeKeySerializationUtils.readVariableIntBytes(in, length);
    }
    return length;
  }

  /**
   * Length of a namespace that fills the rest, without the namespace's length that may follow it.
   */
  private int restOf(int rest) {
    if (!ambiguous) {
      return rest;
    }
    int lengthBytes = 1;
    while (rest - lengthBytes >>> Byte.SIZE * lengthBytes != 0) {
      lengthBytes++;
    }
    return rest - lengthBytes;
  }
}
