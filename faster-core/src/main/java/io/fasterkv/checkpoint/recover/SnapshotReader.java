package io.fasterkv.checkpoint.recover;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.checkpoint.manifest.CheckpointFiles;
import io.fasterkv.checkpoint.manifest.CheckpointManifest;
import io.fasterkv.checkpoint.manifest.SnapshotBlocks;
import io.fasterkv.device.file.ReopeningFile;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.memory.Checksums;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/**
 * Assembles the pages of a snapshot from the files with its blocks, and verifies them. Safe for all
 * threads, each with its own memory to read to.
 */
public final class SnapshotReader implements AutoCloseable {
  private final CheckpointFiles files;
  private final CheckpointManifest manifest;
  private final SnapshotBlocks blocks;
  private final Map<Long, ReopeningFile> open = new HashMap<>();

  public SnapshotReader(CheckpointFiles files, CheckpointManifest manifest, SnapshotBlocks blocks) {
    this.files = files;
    this.manifest = manifest;
    this.blocks = blocks;
  }

  /** Reads the bytes of an extent of the snapshot to the start of {@code to}. */
  public MemorySegment read(Extent extent, MemorySegment to) {
    MemorySegment bytes = to.asSlice(0, extent.until() - extent.from());
    int first = blocks.blockAt(extent.from());
    int last = blocks.blockAt(extent.until() - 1);
    checkIsOnPage(first, extent);
    checkIsOnPage(last, extent);
    for (int block = first; block <= last; ) {
      int after = endOfRun(block, last);
      readBlocks(block, slice(block, after - 1, extent, bytes));
      block = after;
    }
    if (Checksums.crc32c(bytes) != extent.crc()) {
      for (int block = first; block <= last; block++) {
        checkBlock(block, slice(block, block, extent, bytes));
      }
      throw new Corrupt(
          "the blocks of a snapshot do not make a page: file="
              + files.manifest(manifest.number())
              + ", offset=20 and above, address="
              + extent.from());
    }
    return bytes;
  }

  /** The first block after those that are adjacent in one file, as in the log. */
  private int endOfRun(int first, int last) {
    int after = first + 1;
    while (after <= last
        && blocks.owner(after) == blocks.owner(first)
        && blocks.position(after) - blocks.position(first)
            == blocks.blockFrom(after) - blocks.blockFrom(first)) {
      after++;
    }
    return after;
  }

  /** Blocks have no gap between them, so only the first and the last may extend over two pages. */
  private void checkIsOnPage(int block, Extent extent) {
    if (blocks.blockFrom(block) < extent.from() || blocks.blockUntil(block) > extent.until()) {
      throw new Corrupt(
          "a block of a snapshot is on two pages: file="
              + files.manifest(manifest.number())
              + ", offset=20 and above, address="
              + blocks.blockFrom(block));
    }
  }

  private MemorySegment slice(int first, int last, Extent extent, MemorySegment bytes) {
    long from = blocks.blockFrom(first);
    return bytes.asSlice(from - extent.from(), blocks.blockUntil(last) - from);
  }

  private void readBlocks(int first, MemorySegment target) {
    long owner = blocks.owner(first);
    try {
      opened(owner).readFully(target, blocks.position(first));
    } catch (IOException e) {
      throw new Corrupt(
          "a snapshot cannot be read: file="
              + files.snapshot(owner)
              + ", offset="
              + blocks.position(first)
              + ", bytes="
              + target.byteSize()
              + ", cause="
              + e,
          e);
    }
  }

  private synchronized ReopeningFile opened(long owner) throws IOException {
    ReopeningFile file = open.get(owner);
    if (file == null) {
      file = ReopeningFile.open(files.snapshot(owner));
      open.put(owner, file);
    }
    return file;
  }

  private void checkBlock(int block, MemorySegment bytes) {
    if (Checksums.crc32c(bytes) != blocks.crc(block)
        || Checksums.crc32(bytes) != blocks.otherCrc(block)) {
      throw new Corrupt(
          "a snapshot's checksum is wrong: file="
              + files.snapshot(blocks.owner(block))
              + ", offset="
              + blocks.position(block)
              + ", bytes="
              + bytes.byteSize());
    }
  }

  @Override
  public synchronized void close() {
    for (ReopeningFile file : open.values()) {
      try {
        file.close();
      } catch (IOException e) {
        throw new Corrupt("a snapshot's file did not close: cause=" + e, e);
      }
    }
  }
}
