package io.fasterkv.checkpoint.export;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.checkpoint.manifest.CheckpointManifest;
import io.fasterkv.memory.Checksums;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import io.fasterkv.spi.LogPiece;
import io.fasterkv.spi.StoreImport;
import java.lang.foreign.MemorySegment;

/** Reads the records of an exported version from the bytes of its pieces. For one thread. */
final class VersionRecords implements StoreImport.Records {
  private final ExtentWalk walk;

  /** A copy of the current piece, since words are read from aligned memory only. */
  private final MemorySegment page;

  private final ByteSpan key = new ByteSpan();
  private final ByteSpan value = new ByteSpan();

  VersionRecords(CheckpointManifest head) {
    walk = new ExtentWalk(head);
    page = MemorySegment.ofArray(new long[head.shape().pageBytes() / Long.BYTES]);
  }

  @Override
  public void read(LogPiece piece, MemorySegment bytes, String place, StoreImport.Visitor visitor) {
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

  private void show(long info, MemorySegment memory, long record, StoreImport.Visitor visitor) {
    RecordLayout layout = walk.layout();
    int keyBytes = layout.keyBytes(memory, record);
    int valueBytes = layout.valueBytes(memory, record);
    key.wrap(memory, layout.keyOffset(record), keyBytes, keyBytes);
    value.wrap(memory, layout.valueOffset(memory, record), valueBytes, valueBytes);
    visitor.visit(key, value, RecordInfo.isTombstone(info));
  }
}
