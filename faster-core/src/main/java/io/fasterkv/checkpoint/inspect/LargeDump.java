package io.fasterkv.checkpoint.inspect;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.record.ChunkRecord;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import io.fasterkv.record.SpanRecord;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Assembles a large value on the heap from its chunks in a checkpoint. */
final class LargeDump {
  private final CheckpointImage image;

  LargeDump(CheckpointImage image) {
    this.image = image;
  }

  byte[] value(LargeAnchor anchor) {
    check(anchor.bytes() >= 0, anchor.newest());
    byte[] value = new byte[anchor.bytes()];
    long left = anchor.bytes();
    long at = anchor.newest();
    while (true) {
      check(at >= anchor.oldest(), at);
      MemorySegment chunk = image.readFrom(at);
      checkChunk(chunk, at);
      int pieceBytes = ChunkRecord.pieceBytes(chunk, 0);
      int position = ChunkRecord.position(chunk, 0);
      check(position >= 0 && pieceBytes <= left && position <= value.length - pieceBytes, at);
      long piece = ChunkRecord.pieceOffset(chunk, 0);
      MemorySegment.copy(chunk, ValueLayout.JAVA_BYTE, piece, value, position, pieceBytes);
      left -= pieceBytes;
      if (at == anchor.oldest()) {
        check(left == 0, at);
        return value;
      }
      long previous = RecordInfo.previousAddress(RecordLayout.info(chunk, 0));
      check(previous < at, at);
      at = previous;
    }
  }

  private void checkChunk(MemorySegment chunk, long at) {
    SpanRecord layout = SpanRecord.INSTANCE;
    check(chunk.byteSize() >= layout.headerBytes(), at);
    long info = RecordLayout.info(chunk, 0);
    check(RecordInfo.isChunk(info) && !RecordInfo.isPadding(info), at);
    long bytes = layout.recordBytes(chunk, 0);
    check(bytes <= chunk.byteSize() && layout.isSound(chunk, 0, bytes), at);
    check(ChunkRecord.pieceBytes(chunk, 0) > 0 && ChunkRecord.isIntact(chunk, 0), at);
  }

  private void check(boolean isSound, long at) {
    if (!isSound) {
      throw new Corrupt("a chunk of a large value is not what was written: " + image.place(at));
    }
  }
}
