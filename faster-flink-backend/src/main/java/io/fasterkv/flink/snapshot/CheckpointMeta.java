package io.fasterkv.flink.snapshot;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.ByteArrayOutputStreamWithPos;
import org.apache.flink.core.memory.DataInputViewStreamWrapper;
import org.apache.flink.core.memory.DataOutputViewStreamWrapper;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedBackendSerializationProxy;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;

/**
 * The metadata of an incremental checkpoint: the first block of its meta file. The blocks after it
 * contain the timers on the heap, one block for each key group. docs/FORMAT.md has a drawing.
 *
 * @param head of the store's version
 * @param stored the key groups that the log may have records of
 * @param inStore how many of the states are in the store, numbered in this order; the others are
 *     timer queues on the heap
 * @param nextIncarnation above all incarnations of values of several records
 * @param timed the states in the store whose parts may have expired
 * @param states all states
 * @param keys the snapshot of the key serializer
 */
public record CheckpointMeta(
    byte[] head,
    KeyGroupRange stored,
    int inStore,
    long nextIncarnation,
    BitSet timed,
    List<StateMetaInfoSnapshot> states,
    TypeSerializerSnapshot<?> keys) {
  /** "FCP7". */
  private static final int MAGIC = 0x46435037;

  static <K> void write(
      byte[] head,
      KeyGroupRange stored,
      int inStore,
      long nextIncarnation,
      BitSet timed,
      List<StateMetaInfoSnapshot> states,
      TypeSerializer<K> keys,
      OutputStream to)
      throws IOException {
    ByteArrayOutputStreamWithPos bytes = new ByteArrayOutputStreamWithPos();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeInt(MAGIC);
    out.writeInt(stored.getStartKeyGroup());
    out.writeInt(stored.getEndKeyGroup());
    out.writeInt(inStore);
    out.writeLong(nextIncarnation);
    writeBytes(timed.toByteArray(), out);
    writeBytes(head, out);
    new KeyedBackendSerializationProxy<>(keys, states, false)
        .write(new DataOutputViewStreamWrapper(out));
    out.flush();
    Blocks.write(to, bytes.getBuf(), bytes.getPosition());
  }

  private static void writeBytes(byte[] bytes, DataOutputStream out) throws IOException {
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  /** A magic number as letters. */
  static String text(int magic) {
    byte[] bytes = ByteBuffer.allocate(Integer.BYTES).putInt(magic).array();
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  /**
   * Reads the first block of a meta file.
   *
   * @throws IOException if it is damaged or another backend's
   */
  public static CheckpointMeta read(Blocks.In file, ClassLoader userClasses) throws IOException {
    String place = file.place();
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(file.block()));
    int magic = in.readInt();
    if (magic != MAGIC) {
      throw new IOException(
          "not a checkpoint of this backend, or of another version of it: "
              + place
              + ", found="
              + text(magic)
              + ", allowed="
              + text(MAGIC)
              + "; to change the state backend or its version, restore from a canonical savepoint");
    }
    KeyGroupRange stored = KeyGroupRange.of(in.readInt(), in.readInt());
    int inStore = in.readInt();
    long nextIncarnation = in.readLong();
    BitSet timed = BitSet.valueOf(in.readNBytes(in.readInt()));
    byte[] head = in.readNBytes(in.readInt());
    KeyedBackendSerializationProxy<?> proxy = new KeyedBackendSerializationProxy<>(userClasses);
    proxy.read(new DataInputViewStreamWrapper(in));
    return new CheckpointMeta(
        head,
        stored,
        inStore,
        nextIncarnation,
        timed,
        proxy.getStateMetaInfoSnapshots(),
        proxy.getKeySerializerSnapshot());
  }
}
