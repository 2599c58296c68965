package io.fasterkv.checkpoint.recover;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.checkpoint.manifest.CheckpointManifest;
import io.fasterkv.device.LogDevice;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.memory.Checksums;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Verifies the checksums of a checkpoint's part of the log on the device, reading adjacent extents
 * together.
 */
final class DeviceCheck {
  private final LogDevice device;
  private final List<List<Extent>> runs;

  /**
   * @param mostBytes maximum length of a read, at least a page
   */
  DeviceCheck(CheckpointManifest manifest, LogDevice device, long mostBytes) {
    this.device = device;
    runs = runs(manifest, mostBytes);
  }

  /** Groups adjacent extents of one segment, up to the maximum length of a read. */
  private static List<List<Extent>> runs(CheckpointManifest manifest, long mostBytes) {
    long segmentBytes = manifest.shape().segmentBytes();
    List<Extent> extents = manifest.onDevice();
    List<List<Extent>> runs = new ArrayList<>();
    int first = 0;
    for (int i = 1; i <= extents.size(); i++) {
      long from = extents.get(first).from();
      boolean isLast = i == extents.size();
      if (isLast
          || extents.get(i).until() - from > mostBytes
          || extents.get(i).from() / segmentBytes != from / segmentBytes) {
        runs.add(extents.subList(first, i));
        first = i;
      }
    }
    return runs;
  }

  /** Number of pieces of work. */
  int pieces() {
    return runs.size();
  }

  /** Total bytes of all pieces. */
  long bytes() {
    return runs.stream().mapToLong(DeviceCheck::bytes).sum();
  }

  /** Reads and verifies one piece, using the scratch buffer; returns its number of bytes. */
  long check(int piece, MemorySegment buffer) {
    List<Extent> run = runs.get(piece);
    long from = run.getFirst().from();
    MemorySegment bytes = buffer.asSlice(0, bytes(run));
    try {
      device.readNow(from, bytes);
    } catch (IOException e) {
      throw new Corrupt(
          "the log cannot be read: "
              + device.place(from)
              + ", bytes="
              + bytes.byteSize()
              + ", cause="
              + e,
          e);
    }
    for (Extent extent : run) {
      check(extent, bytes.asSlice(extent.from() - from, extent.until() - extent.from()));
    }
    return bytes.byteSize();
  }

  private void check(Extent extent, MemorySegment bytes) {
    if (Checksums.crc32c(bytes) != extent.crc()) {
      throw new Corrupt(
          "a page's checksum is wrong: "
              + device.place(extent.from())
              + ", bytes="
              + bytes.byteSize());
    }
  }

  private static long bytes(List<Extent> run) {
    return run.getLast().until() - run.getFirst().from();
  }
}
