package io.fasterkv.flink.state;

import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.StateSnapshotTransformer.StateSnapshotTransformFactory;

/**
 * A state of an operator: its number in record keys, Flink's metadata, and its filter for
 * snapshots. For the task thread.
 *
 * @param <N> type of the namespaces
 * @param <V> type of what the state holds for a key and namespace
 */
public final class RegisteredState<N, V> implements Registered {
  private final int id;
  private RegisteredKeyValueStateBackendMetaInfo<N, V> metaInfo;
  private StateSnapshotTransformFactory<?> filter = StateSnapshotTransformFactory.noTransform();

  RegisteredState(int id, RegisteredKeyValueStateBackendMetaInfo<N, V> metaInfo) {
    this.id = id;
    this.metaInfo = metaInfo;
  }

  @Override
  public int id() {
    return id;
  }

  @Override
  public String name() {
    return metaInfo.getName();
  }

  public StateDescriptor.Type type() {
    return metaInfo.getStateType();
  }

  @Override
  public RegisteredKeyValueStateBackendMetaInfo<N, V> metaInfo() {
    return metaInfo;
  }

  /** Allows later registrations to use other serializers. */
  public void allowSerializerUpgrades() {
    metaInfo = metaInfo.withSerializerUpgradesAllowed();
  }

  public TypeSerializer<N> namespaceSerializer() {
    return metaInfo.getNamespaceSerializer();
  }

  public TypeSerializer<V> valueSerializer() {
    return metaInfo.getStateSerializer();
  }

  /** The filter that snapshots apply to single values, list elements or map values. */
  public StateSnapshotTransformFactory<?> filter() {
    return filter;
  }

  public void setFilter(StateSnapshotTransformFactory<?> factory) {
    filter = factory;
  }
}
