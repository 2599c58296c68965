package io.fasterkv.flink.state;

import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.RegisteredPriorityQueueStateBackendMetaInfo;

/**
 * A timer queue in the store: its number in record keys, and Flink's metadata. For the task thread.
 *
 * @param <T> type of the elements
 */
public final class RegisteredQueue<T> implements Registered {
  private final int id;
  private RegisteredPriorityQueueStateBackendMetaInfo<T> metaInfo;

  RegisteredQueue(int id, RegisteredPriorityQueueStateBackendMetaInfo<T> metaInfo) {
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

  @Override
  public RegisteredPriorityQueueStateBackendMetaInfo<T> metaInfo() {
    return metaInfo;
  }

  public TypeSerializer<T> serializer() {
    return metaInfo.getElementSerializer();
  }

  /** Allows later registrations to use other serializers. */
  public void allowSerializerUpgrades() {
    metaInfo = metaInfo.withSerializerUpgradesAllowed();
  }
}
