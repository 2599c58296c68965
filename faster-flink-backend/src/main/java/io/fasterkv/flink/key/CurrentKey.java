package io.fasterkv.flink.key;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.util.FlinkRuntimeException;

/**
 * The current key of keyed state, serialized once when it is set and shared by all states. For one
 * thread.
 *
 * @param <K> type of the keys
 */
public final class CurrentKey<K> {
  private static final int FIRST_BYTES = 64;

  private final TypeSerializer<K> serializer;
  private final DataOutputSerializer out = new DataOutputSerializer(FIRST_BYTES);
  private final CompositeKey composite = new CompositeKey();

  public CurrentKey(TypeSerializer<K> serializer) {
    this.serializer = serializer;
  }

  /** Sets the current key. */
  public void set(K key, int keyGroup) {
    try {
      out.clear();
      serializer.serialize(key, out);
      composite.setKey(keyGroup, out.getSharedBuffer(), 0, out.length());
    } catch (IOException cause) {
      throw new FlinkRuntimeException("cannot serialize the key: key=" + key, cause);
    }
  }

  /** The current key's record keys for one state and namespace; valid until the next call. */
  public CompositeKey select(int state, byte[] namespace, int length) {
    return composite.select(state, namespace, 0, length);
  }
}
