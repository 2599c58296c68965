package io.fasterkv.demo.job;

import io.fasterkv.demo.text.TextRange;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/** The format of a split in a checkpoint. */
final class TextSplitSerializer implements SimpleVersionedSerializer<TextSplit> {
  private static final int VERSION = 1;

  @Override
  public int getVersion() {
    return VERSION;
  }

  @Override
  public byte[] serialize(TextSplit split) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    write(split, new DataOutputStream(bytes));
    return bytes.toByteArray();
  }

  @Override
  public TextSplit deserialize(int version, byte[] serialized) throws IOException {
    if (version != VERSION) {
      throw new IOException("unknown split format: version=" + version + ", allowed=" + VERSION);
    }
    return read(new DataInputStream(new ByteArrayInputStream(serialized)));
  }

  static void write(TextSplit split, DataOutputStream out) throws IOException {
    TextRange range = split.range();
    out.writeInt(range.ordinal());
    out.writeUTF(range.file());
    out.writeLong(range.offset());
    out.writeInt(range.firstWord());
    out.writeInt(range.words());
    out.writeLong(range.wordsBefore());
    out.writeInt(split.read());
  }

  static TextSplit read(DataInputStream in) throws IOException {
    TextRange range =
        new TextRange(
            in.readInt(), in.readUTF(), in.readLong(), in.readInt(), in.readInt(), in.readLong());
    return new TextSplit(range, in.readInt());
  }
}
