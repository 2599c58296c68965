package io.fasterkv.flink.key;

import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.CompositeKeySerializationUtils;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * The keys that one operator's subtask is responsible for.
 *
 * @param <K> type of the keys
 * @param serializer serializes keys
 * @param range the key groups of this subtask
 * @param keyGroups the number of all key groups, which is the maximal parallelism
 */
public record KeySpace<K>(TypeSerializer<K> serializer, KeyGroupRange range, int keyGroups) {

  /** Bytes of the key group at the start of a key in Flink's savepoint format: 1 or 2. */
  public int savepointPrefixBytes() {
    return CompositeKeySerializationUtils.computeRequiredBytesInKeyGroupPrefix(keyGroups);
  }

  /** Whether savepoints need lengths to tell where a key ends and a namespace starts. */
  public boolean ambiguousWith(TypeSerializer<?> namespaceSerializer) {
    return CompositeKeySerializationUtils.isAmbiguousKeyPossible(serializer, namespaceSerializer);
  }
}
