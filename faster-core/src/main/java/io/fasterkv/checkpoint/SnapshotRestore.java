package io.fasterkv.checkpoint;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.device.AwaitedTransfer;
import io.fasterkv.device.LogDevice;
import io.fasterkv.log.FlushedExtents.Extent;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Checks the pages of a snapshot and writes them to their places on the device, where they are as
 * durable as all that was flushed and not forced yet: the next checkpoint forces them, and until
 * then the snapshot is there.
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

  /** How many pieces of work there are. */
  int pieces() {
    return pages.size();
  }

  /** Reads and checks a piece, with scratch; returns how many bytes that is. */
  long check(int piece, MemorySegment buffer) {
    return reader.read(pages.get(piece), buffer).byteSize();
  }

  /** As {@link #check}, and writes what is right. */
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
