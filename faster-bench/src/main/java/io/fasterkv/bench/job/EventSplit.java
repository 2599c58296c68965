package io.fasterkv.bench.job;

import io.fasterkv.bench.events.Share;
import java.io.IOException;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * The events of a reader, and how many of them it has emitted.
 *
 * @param position of the next event in the share
 */
record EventSplit(Share share, long position) implements SourceSplit {
  @Override
  public String splitId() {
    return Integer.toString(share.index());
  }

  /** Writes splits to checkpoints. */
  static final class Serializer implements SimpleVersionedSerializer<EventSplit> {
    private static final int VERSION = 1;
    private static final int BYTES = 28;

    @Override
    public int getVersion() {
      return VERSION;
    }

    @Override
    public byte[] serialize(EventSplit split) throws IOException {
      DataOutputSerializer out = new DataOutputSerializer(BYTES);
      out.writeInt(split.share.index());
      out.writeInt(split.share.readers());
      out.writeLong(split.share.total());
      out.writeInt(split.share.disorder());
      out.writeLong(split.position);
      return out.getCopyOfBuffer();
    }

    @Override
    public EventSplit deserialize(int version, byte[] bytes) throws IOException {
      if (version != VERSION) {
        throw new IOException("unknown format: version=" + version + ", allowed=" + VERSION);
      }
      DataInputDeserializer in = new DataInputDeserializer(bytes);
      Share share = new Share(in.readInt(), in.readInt(), in.readLong(), in.readInt());
      return new EventSplit(share, in.readLong());
    }
  }
}
