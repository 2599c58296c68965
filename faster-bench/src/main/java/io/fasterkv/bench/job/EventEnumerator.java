package io.fasterkv.bench.job;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.jspecify.annotations.Nullable;

/** Assigns each reader its own split, so that event times of a reader ascend. */
final class EventEnumerator implements SplitEnumerator<EventSplit, List<EventSplit>> {
  private final SplitEnumeratorContext<EventSplit> context;
  private final TreeMap<Integer, EventSplit> unassigned = new TreeMap<>();

  EventEnumerator(SplitEnumeratorContext<EventSplit> context, List<EventSplit> unassigned) {
    this.context = context;
    addSplitsBack(unassigned, 0);
  }

  @Override
  public void start() {}

  @Override
  public void handleSplitRequest(int subtask, @Nullable String host) {
    EventSplit split = unassigned.remove(subtask);
    if (split != null) {
      context.assignSplit(split, subtask);
    }
    context.signalNoMoreSplits(subtask);
  }

  @Override
  public void addSplitsBack(List<EventSplit> splits, int subtask) {
    splits.forEach(split -> unassigned.put(split.share().index(), split));
  }

  @Override
  public void addReader(int subtask) {}

  @Override
  public List<EventSplit> snapshotState(long checkpointId) {
    return List.copyOf(unassigned.values());
  }

  /** The readers whose splits have not been assigned. */
  Set<Integer> unassigned() {
    return unassigned.keySet();
  }

  @Override
  public void close() {}

  /** Writes unassigned splits to checkpoints. */
  static final class Serializer implements SimpleVersionedSerializer<List<EventSplit>> {
    private final EventSplit.Serializer ofSplit = new EventSplit.Serializer();

    @Override
    public int getVersion() {
      return ofSplit.getVersion();
    }

    @Override
    public byte[] serialize(List<EventSplit> splits) throws IOException {
      DataOutputSerializer out = new DataOutputSerializer(64);
      out.writeInt(splits.size());
      for (EventSplit split : splits) {
        byte[] bytes = ofSplit.serialize(split);
        out.writeInt(bytes.length);
        out.write(bytes);
      }
      return out.getCopyOfBuffer();
    }

    @Override
    public List<EventSplit> deserialize(int version, byte[] bytes) throws IOException {
      DataInputDeserializer in = new DataInputDeserializer(bytes);
      List<EventSplit> splits = new ArrayList<>();
      for (int left = in.readInt(); left > 0; left--) {
        byte[] split = new byte[in.readInt()];
        in.readFully(split);
        splits.add(ofSplit.deserialize(version, split));
      }
      return splits;
    }
  }
}
