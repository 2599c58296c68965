package io.fasterkv.checkpoint.recover;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.checkpoint.manifest.CheckpointManifest;
import io.fasterkv.device.LogDevice;
import io.fasterkv.device.file.AwaitedTransfer;
import io.fasterkv.log.FlushedExtents.Extent;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Verifies the pages of a snapshot and writes them to their places on the device. They are then as
 * durable as other flushed bytes that were not forced: the next checkpoint forces them, and until
 * then the snapshot exists.
 */
final class SnapshotRestore {
  private final SnapshotReader reader;
  private final List<Extent> pages;
  private final LogDevice device;

  SnapshotRestore(SnapshotReader reader, CheckpointManifest manifest, LogDevice device) {
    this.reader = reader;
    pages = manifest.inSnapshot();
    this.device = device;
  }

  /** Number of pieces of work. */
  int pieces() {
    return pages.size();
  }

  /** Reads and verifies a piece, using the scratch buffer; returns its number of bytes. */
  long check(int piece, MemorySegment buffer) {
    return reader.read(pages.get(piece), buffer).byteSize();
  }

  /** Like {@link #check}, and writes the verified bytes. */
  long restore(int piece, MemorySegment buffer) {
    long from = pages.get(piece).from();
    MemorySegment bytes = reader.read(pages.get(piece), buffer);
    try {
      AwaitedTransfer.write(device, from, bytes);
    } catch (IOException e) {
      throw new Corrupt(
          "a snapshot cannot be copied into the log: "
              + device.place(from)
              + ", bytes="
              + bytes.byteSize()
              + ", cause="
              + e,
          e);
    }
    return bytes.byteSize();
  }
}
