package io.fasterkv.demo.job;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * The splits that no reader has yet.
 *
 * @param next all splits of the plan from this ordinal on, 0 or more
 * @param returned splits below {@code next} that were returned by a failed reader
 */
record PlanPosition(int next, List<TextSplit> returned) {

  PlanPosition {
    returned = List.copyOf(returned);
  }

  /** The format of a position in a checkpoint. */
  static final class Serializer implements SimpleVersionedSerializer<PlanPosition> {
    private static final int VERSION = 1;

    @Override
    public int getVersion() {
      return VERSION;
    }

    @Override
    public byte[] serialize(PlanPosition position) throws IOException {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      DataOutputStream out = new DataOutputStream(bytes);
      out.writeInt(position.next);
      out.writeInt(position.returned.size());
      for (TextSplit split : position.returned) {
        TextSplitSerializer.write(split, out);
      }
      return bytes.toByteArray();
    }

    @Override
    public PlanPosition deserialize(int version, byte[] serialized) throws IOException {
      if (version != VERSION) {
        throw new IOException("unknown plan format: version=" + version + ", allowed=" + VERSION);
      }
      DataInputStream in = new DataInputStream(new ByteArrayInputStream(serialized));
      int next = in.readInt();
      int count = in.readInt();
      List<TextSplit> returned = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        returned.add(TextSplitSerializer.read(in));
      }
      return new PlanPosition(next, returned);
    }
  }
}
