package io.fasterkv.checkpoint;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LogPiece;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.memory.Checksums;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;

/** The records of a version that was exported, from the bytes of its pieces. One thread's. */
public final class VersionRecords {
  private final ExtentWalk walk;

  /** Has the piece at hand, since words are read from aligned memory only. */
  private final MemorySegment page;

  private final ByteSpan key = new ByteSpan();
  private final ByteSpan value = new ByteSpan();

  /** Takes what is found. */
  public interface Visitor {
    /** The spans are valid until this returns. */
    void visit(ByteSpan key, ByteSpan value, boolean isTombstone);
  }

  public VersionRecords(VersionHead head) {
    walk = new ExtentWalk(head.manifest());
    page = MemorySegment.ofArray(new long[head.pageBytes() / Long.BYTES]);
  }

  /**
   * Goes over the next piece.
   *
   * @param place where its bytes come from, for error messages
   */
  public void read(LogPiece piece, MemorySegment bytes, String place, Visitor visitor) {
    if (!walk.isWanted(piece.until())) {
      return;
    }
    if (bytes.byteSize() > page.byteSize() || Checksums.crc32c(bytes) != piece.crc()) {
      throw new Corrupt(
          "a piece of the log is not what was written: " + place + ", piece=" + piece);
    }
    page.asSlice(0, bytes.byteSize()).copyFrom(bytes);
    walk.run(
        piece.from(),
        page.asSlice(0, bytes.byteSize()),
        address -> place + ", address=" + address,
        (address, info, memory, record) -> {
          if (RecordInfo.isLarge(info) || RecordInfo.isDelta(info)) {
            throw new BadConfig(
                "a record cannot be read from its piece alone: "
                    + place
                    + ", address="
                    + address
                    + ", allowed=stores without merge and without values larger than a page");
          }
          show(info, memory, record, visitor);
        });
  }

  private void show(long info, MemorySegment memory, long record, Visitor visitor) {
    RecordLayout layout = walk.layout();
    int keyBytes = layout.keyBytes(memory, record);
    int valueBytes = layout.valueBytes(memory, record);
    key.wrap(memory, layout.keyOffset(record), keyBytes, keyBytes);
    value.wrap(memory, layout.valueOffset(memory, record), valueBytes, valueBytes);
    visitor.visit(key, value, RecordInfo.isTombstone(info));
  }
}
