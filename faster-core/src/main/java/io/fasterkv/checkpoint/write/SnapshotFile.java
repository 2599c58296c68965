package io.fasterkv.checkpoint.write;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.checkpoint.manifest.SequentialFile;
import io.fasterkv.checkpoint.manifest.SnapshotBlocks;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.Checksums;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.record.Address;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes the part of the log that is not on the device to a file of its own, a page at a time,
 * without the blocks that an older snapshot has. Nothing that belongs to the checkpoint changes
 * meanwhile. Records of the next version may change, but not their sizes; recovery skips them. A
 * page that is evicted meanwhile is read from the device.
 */
final class SnapshotFile {
  /** Small, so that a few updates leave most blocks unchanged. */
  private static final int BLOCK_BYTES = 16 << 10;

  /** How much is copied before the epoch is released. */
  private static final long COPY_BYTES = 64 << 10;

  private final Engine engine;
  private final HybridLog log;
  private final SequentialFile file;
  private final long number;

  /** A scratch page. */
  private MemorySegment page;

  /**
   * @param file must have buffers of at least a page
   */
  SnapshotFile(Engine engine, SequentialFile file, long number) {
    this.engine = engine;
    log = engine.log();
    this.file = file;
    this.number = number;
    page = file.buffer();
  }

  /**
   * Writes the log from {@code from} to {@code until} durably, and adds its extents to {@code
   * extents}.
   *
   * @param base a snapshot whose unchanged blocks need not be written again
   */
  SnapshotBlocks write(long from, long until, @Nullable SnapshotBlocks base, List<Extent> extents)
      throws IOException {
    int blockBytes = (int) Math.min(BLOCK_BYTES, log.pageBytes());
    SnapshotBlocks blocks = new SnapshotBlocks(from, until, blockBytes);
    SnapshotBlocks usable = base == null || base.blockBytes() != blockBytes ? null : base;
    try (EpochUser user = engine.epochs().register()) {
      for (long at = from; at < until; ) {
        long end = Math.min(until, log.pageEnd(at));
        page = file.buffer();
        copy(at, end, user);
        extents.add(new Extent(at, end, Checksums.crc32c(page.asSlice(0, end - at))));
        addPage(at, end, blocks, usable);
        file.turn();
        at = end;
      }
    }
    file.finish();
    return blocks;
  }

  /** Adds the new blocks of a page, adjacent ones together. */
  private void addPage(
      long from, long until, SnapshotBlocks blocks, @Nullable SnapshotBlocks base) {
    long unwritten = from;
    for (long at = from; at < until; ) {
      int block = blocks.blockAt(at);
      long end = blocks.blockUntil(block);
      MemorySegment bytes = page.asSlice(at - from, end - at);
      int crc = Checksums.crc32c(bytes);
      int otherCrc = Checksums.crc32(bytes);
      int same = base == null ? -1 : base.same(at, end, crc, otherCrc);
      if (base != null && same >= 0) {
        blocks.set(block, base.owner(same), base.position(same), crc, otherCrc);
        file.add(page.asSlice(unwritten - from, at - unwritten));
        unwritten = end;
      } else {
        blocks.set(block, number, file.position() + (at - unwritten), crc, otherCrc);
      }
      at = end;
    }
    file.add(page.asSlice(unwritten - from, until - unwritten));
  }

  private void copy(long from, long until, EpochUser user) throws IOException {
    for (long at = from; at < until; ) {
      long end = Math.min(until, at + COPY_BYTES);
      if (!copyFromMemory(at, page.asSlice(at - from, end - at), user)) {
        end = copyFromDevice(at, until, page.asSlice(at - from, until - at));
      }
      at = end;
    }
  }

  private boolean copyFromMemory(long from, MemorySegment target, EpochUser user) {
    user.protect();
    try {
      // The first page begins below the first record and is flushed as a whole.
      boolean isInMemory = Math.max(from, Address.FIRST) >= log.headAddress();
      if (isInMemory) {
        MemorySegment.copy(log.memory(), log.offset(from), target, 0, target.byteSize());
      }
      return isInMemory;
    } finally {
      user.unprotect();
    }
  }

  /** Copies up to the end of an extent, and verifies it if all of it is needed. */
  private long copyFromDevice(long from, long until, MemorySegment target) throws IOException {
    Extent extent = log.extents().at(from);
    long end = Math.min(until, extent.until());
    MemorySegment bytes = target.asSlice(0, end - from);
    log.device().readNow(from, bytes);
    boolean isWhole = extent.from() == from && extent.until() == end;
    if (isWhole && Checksums.crc32c(bytes) != extent.crc()) {
      throw new Corrupt(
          "a page is not what was written: "
              + log.device().place(from)
              + ", bytes="
              + bytes.byteSize());
    }
    return end;
  }
}
