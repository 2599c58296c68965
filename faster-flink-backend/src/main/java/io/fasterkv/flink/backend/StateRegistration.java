package io.fasterkv.flink.backend;

import io.fasterkv.flink.restore.StateMigration;
import io.fasterkv.flink.state.ExpiryRules;
import io.fasterkv.flink.state.RegisteredState;
import io.fasterkv.flink.state.StateRegistry;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.util.StateMigrationException;

/**
 * Registers new states, and known states under Flink's rules of compatibility; migrates values
 * where these rules require it. For the task thread.
 */
final class StateRegistration {
  private final StateRegistry states;
  private final ExpiryRules expiry;
  private final StateMigration migration;

  StateRegistration(StateRegistry states, ExpiryRules expiry, StateMigration migration) {
    this.states = states;
    this.expiry = expiry;
    this.migration = migration;
  }

  /**
   * Returns the state for a descriptor.
   *
   * @throws StateMigrationException if a serializer is incompatible with the one that wrote the
   *     state, or if the format of the namespace serializer has changed
   */
  <N, V> RegisteredState<N, V> register(
      TypeSerializer<N> namespaces, StateDescriptor<?, V> descriptor, boolean allowUpgrades)
      throws StateMigrationException {
    @SuppressWarnings("unchecked")
    RegisteredState<N, V> state = (RegisteredState<N, V>) states.find(descriptor.getName());
    if (state == null) {
      state =
          states.add(
              new RegisteredKeyValueStateBackendMetaInfo<>(
                  descriptor.getType(),
                  descriptor.getName(),
                  namespaces,
                  descriptor.getSerializer()));
    } else {
      update(state, namespaces, descriptor);
    }
    if (allowUpgrades) {
      state.allowSerializerUpgrades();
    }
    return state;
  }

  private <N, V> void update(
      RegisteredState<N, V> state, TypeSerializer<N> namespaces, StateDescriptor<?, V> descriptor)
      throws StateMigrationException {
    RegisteredKeyValueStateBackendMetaInfo<N, V> metaInfo = state.metaInfo();
    TypeSerializer<N> oldNamespaces = metaInfo.getNamespaceSerializer();
    TypeSerializerSchemaCompatibility<N> namespaceCompatibility =
        metaInfo.updateNamespaceSerializer(namespaces);
    if (namespaceCompatibility.isCompatibleAfterMigration()
        || namespaceCompatibility.isIncompatible()) {
      throw incompatible("namespace serializer", state, namespaces, oldNamespaces);
    }
    metaInfo.checkStateMetaInfo(descriptor);
    TypeSerializer<V> oldValues = metaInfo.getStateSerializer();
    TypeSerializerSchemaCompatibility<V> compatibility =
        metaInfo.updateStateSerializer(descriptor.getSerializer());
    if (compatibility.isIncompatible()) {
      throw incompatible("state serializer", state, descriptor.getSerializer(), oldValues);
    }
    if (compatibility.isCompatibleAfterMigration()) {
      // The old rule cannot read what is written from now on.
      expiry.forget(state);
      migration.migrate(state);
    }
  }

  private static StateMigrationException incompatible(
      String what, RegisteredState<?, ?> state, TypeSerializer<?> now, TypeSerializer<?> before) {
    return new StateMigrationException(
        "the new "
            + what
            + " is not compatible with the old one: state="
            + state.name()
            + ", new="
            + now
            + ", old="
            + before);
  }
}
