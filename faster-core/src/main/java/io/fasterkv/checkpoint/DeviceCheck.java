package io.fasterkv.checkpoint;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.device.LogDevice;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.memory.Checksums;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads all that a checkpoint has of the log on the device, neighbouring extents together, and
 * compares the checksums.
 */
final class DeviceCheck {
  private final LogDevice device;
  private final List<List<Extent>> runs;

  /**
   * @param mostBytes how much may be read at once, a page and more
   */
  DeviceCheck(CheckpointManifest manifest, LogDevice device, long mostBytes) {
    this.device = device;
    runs = runs(manifest, mostBytes);
  }

  /** Neighbours on one segment, as many as may be read at once. */
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

  /** How many pieces of work there are. */
  int pieces() {
    return runs.size();
  }

  /** How many bytes all pieces have. */
  long bytes() {
    return runs.stream().mapToLong(DeviceCheck::bytes).sum();
  }

  /** Reads and checks what is in one piece, with scratch; returns how many bytes that is. */
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
