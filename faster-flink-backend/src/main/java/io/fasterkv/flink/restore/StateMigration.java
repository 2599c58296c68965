package io.fasterkv.flink.restore;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.key.KeySpace;
import io.fasterkv.flink.records.base.ValueIncarnations;
import io.fasterkv.flink.records.write.StateRecords;
import io.fasterkv.flink.snapshot.LocalStore;
import io.fasterkv.flink.snapshot.SavepointEntries;
import io.fasterkv.flink.snapshot.StateScan;
import io.fasterkv.flink.state.RegisteredState;
import java.io.IOException;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.ttl.TtlAwareSerializer;
import org.apache.flink.runtime.state.ttl.TtlAwareSerializer.TtlAwareListSerializer;
import org.apache.flink.runtime.state.ttl.TtlAwareSerializer.TtlAwareMapSerializer;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.util.StateMigrationException;

/**
 * Rewrites all values of a state after its serializer's format has changed, or its time to live was
 * switched on or off. Keys, namespaces and user keys of maps stay unchanged. For the task thread.
 */
public final class StateMigration {
  private final LocalStore local;
  private final KeySpace<?> keys;
  private final ValueIncarnations incarnations;
  private final StateWriter writer;
  private final TtlTimeProvider time;
  private final DataInputDeserializer in = new DataInputDeserializer();
  private final DataOutputSerializer out = new DataOutputSerializer(256);

  public StateMigration(
      LocalStore local, KeySpace<?> keys, StateRecords records, TtlTimeProvider time) {
    this.local = local;
    this.keys = keys;
    this.incarnations = records.incarnations();
    this.writer = new StateWriter(records);
    this.time = time;
  }

  /**
   * Rewrites the values from the previous serializer's format to the current one's.
   *
   * @throws StateMigrationException if the format of a map's user keys has changed, or if a value
   *     cannot be read or written
   */
  public void migrate(RegisteredState<?, ?> state) throws StateMigrationException {
    RegisteredKeyValueStateBackendMetaInfo<?, ?> metaInfo = state.metaInfo();
    checkUserKeys(state, metaInfo);
    TtlAwareSerializer<?, ?> previous =
        TtlAwareSerializer.wrapTtlAwareSerializer(metaInfo.getPreviousStateSerializer());
    TtlAwareSerializer<?, ?> current =
        TtlAwareSerializer.wrapTtlAwareSerializer(metaInfo.getStateSerializer());
    CompositeKey key = new CompositeKey();
    try (StateScan scan = StateScan.of(local, keys, incarnations, state)) {
      SavepointEntries entries = scan.entries();
      while (entries.next()) {
        key.setPrefix(entries.prefix(), 0, entries.prefix().length);
        in.setBuffer(entries.value());
        out.clear();
        rewrite(state.type(), key, entries, previous, current);
      }
    } catch (IOException | RuntimeException cause) {
      throw new StateMigrationException(
          "cannot migrate the values of a state: state=" + state.name(), cause);
    }
  }

  private void rewrite(
      StateDescriptor.Type type,
      CompositeKey key,
      SavepointEntries entries,
      TtlAwareSerializer<?, ?> previous,
      TtlAwareSerializer<?, ?> current)
      throws IOException {
    switch (type) {
      case LIST -> {
        TtlAwareSerializer<?, ?> element =
            ((TtlAwareListSerializer<?>) current).getElementSerializer();
        rewriteList(((TtlAwareListSerializer<?>) previous).getElementSerializer(), element);
        writer.removeList(key);
        writer.putList(key, out.getSharedBuffer(), out.length(), element);
      }
      case MAP -> {
        rewriteMapValue(
            ((TtlAwareMapSerializer<?, ?>) previous).getValueSerializer(),
            ((TtlAwareMapSerializer<?, ?>) current).getValueSerializer());
        writer.putMapEntry(
            key, entries.key(), entries.userKeyAt(), out.getSharedBuffer(), out.length());
      }
      default -> {
        rewriteOne(previous, current);
        writer.putValue(key, out.getSharedBuffer(), out.length());
      }
    }
  }

  private void rewriteList(TtlAwareSerializer<?, ?> previous, TtlAwareSerializer<?, ?> current)
      throws IOException {
    while (in.available() > 0) {
      rewriteOne(previous, current);
      if (in.available() > 0) {
        out.writeByte(in.readByte());
      }
    }
  }

  private void rewriteMapValue(TtlAwareSerializer<?, ?> previous, TtlAwareSerializer<?, ?> current)
      throws IOException {
    boolean isNull = in.readBoolean();
    out.writeBoolean(isNull);
    if (!isNull) {
      rewriteOne(previous, current);
    }
  }

  @SuppressWarnings("unchecked")
  private <T> void rewriteOne(TtlAwareSerializer<?, ?> previous, TtlAwareSerializer<T, ?> current)
      throws IOException {
    TtlAwareSerializer<T, ?> from = (TtlAwareSerializer<T, ?>) previous;
    current.migrateValueFromPriorSerializer(from, () -> from.deserialize(in), out, time);
  }

  private static void checkUserKeys(
      RegisteredState<?, ?> state, RegisteredKeyValueStateBackendMetaInfo<?, ?> metaInfo)
      throws StateMigrationException {
    if (state.type() == StateDescriptor.Type.MAP
        && metaInfo.getPreviousStateSerializerSnapshot()
            instanceof MapSerializerSnapshot<?, ?> previous
        && !compatibleAsIs(
            previous, ((MapSerializer<?, ?>) metaInfo.getStateSerializer()).getKeySerializer())) {
      throw new StateMigrationException(
          "the serializer of a map's user keys has changed its format, which cannot be migrated:"
              + " state="
              + state.name());
    }
  }

  @SuppressWarnings("unchecked")
  private static <T> boolean compatibleAsIs(
      MapSerializerSnapshot<?, ?> previous, TypeSerializer<T> current) {
    TypeSerializerSchemaCompatibility<T> compatibility =
        current
            .snapshotConfiguration()
            .resolveSchemaCompatibility(
                ((MapSerializerSnapshot<T, ?>) previous).getKeySerializerSnapshot());
    return compatibility.isCompatibleAsIs();
  }
}
