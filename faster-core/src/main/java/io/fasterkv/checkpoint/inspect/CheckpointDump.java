package io.fasterkv.checkpoint.inspect;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.checkpoint.DumpedRecord;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Shows the live records of a checkpoint. It reads the log twice: first to find where each key's
 * live records begin, then to show them. Takes heap for all keys.
 */
final class CheckpointDump {
  private final CheckpointImage image;
  private final RecordLayout layout;

  /** Address of the oldest live record of each key: its newest that is not a delta. */
  private final Map<ByteBuffer, Long> liveFrom = new HashMap<>();

  CheckpointDump(CheckpointImage image) {
    this.image = image;
    layout = RecordLayout.of(image.manifest().shape().recordKind());
  }

  void run(Consumer<DumpedRecord> consumer) {
    RecordWalk walk = new RecordWalk(image);
    walk.run(this::note);
    walk.run((address, info, memory, record) -> {
      Long from = liveFrom.get(ByteBuffer.wrap(key(memory, record)));
      if (from != null && address >= from) {
        consumer.accept(dumped(address, info, memory, record));
      }
    });
  }

  private void note(long address, long info, MemorySegment memory, long record) {
    ByteBuffer key = ByteBuffer.wrap(key(memory, record));
    if (isDeleted(address, info, memory, record)) {
      liveFrom.remove(key);
    } else if (RecordInfo.isDelta(info)) {
      liveFrom.putIfAbsent(key, address);
    } else {
      liveFrom.put(key, address);
    }
  }

  private boolean isDeleted(long address, long info, MemorySegment memory, long record) {
    return RecordInfo.isTombstone(info)
        || (RecordInfo.isLarge(info)
            && anchor(address, memory, record).oldest() < image.manifest().cut().begin());
  }

  private DumpedRecord dumped(long address, long info, MemorySegment memory, long record) {
    byte[] key = key(memory, record);
    byte[] value =
        RecordInfo.isLarge(info)
            ? new LargeDump(image).value(anchor(address, memory, record))
            : bytes(memory, layout.valueOffset(memory, record), layout.valueBytes(memory, record));
    return new DumpedRecord(
        address,
        RecordInfo.version(info),
        ByteSpan.of(key),
        ByteSpan.of(value),
        RecordInfo.isDelta(info));
  }

  private LargeAnchor anchor(long address, MemorySegment memory, long record) {
    LargeAnchor anchor = LargeAnchor.read(memory, record);
    if (anchor == null) {
      throw new Corrupt(
          "the anchor of a large value is not what was written: " + image.place(address));
    }
    return anchor;
  }

  private byte[] key(MemorySegment memory, long record) {
    return bytes(memory, layout.keyOffset(record), layout.keyBytes(memory, record));
  }

  private static byte[] bytes(MemorySegment memory, long from, int count) {
    return memory.asSlice(from, count).toArray(ValueLayout.JAVA_BYTE);
  }
}
