package io.fasterkv.checkpoint;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.device.LogDevice;
import io.fasterkv.device.Transfers;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.memory.Checksums;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Puts the pages of a snapshot together from the files that its blocks are in, and checks them. One
 * thread at a time.
 */
final class SnapshotReader implements AutoCloseable {
  private final CheckpointFiles files;
  private final CheckpointManifest manifest;
  private final SnapshotBlocks blocks;
  private final MemorySegment page;
  private final Map<Long, FileChannel> open = new HashMap<>();

  /** Takes the pages of a snapshot, in order. */
  interface PageSink {
    /** The bytes are valid until this returns. */
    void accept(long from, MemorySegment bytes) throws IOException;
  }

  /**
   * @param page scratch of a page
   */
  SnapshotReader(
      CheckpointFiles files,
      CheckpointManifest manifest,
      SnapshotBlocks blocks,
      MemorySegment page) {
    this.files = files;
    this.manifest = manifest;
    this.blocks = blocks;
    this.page = page;
  }

  /** Reads and checks all. */
  void readAll(PageSink sink, Progress progress) {
    for (Extent extent : manifest.log().extents()) {
      if (extent.from() >= blocks.from()) {
        MemorySegment bytes = read(extent, page);
        try {
          sink.accept(extent.from(), bytes);
        } catch (IOException e) {
          throw new Corrupt(
              "a snapshot cannot be put in its place: address=" + extent.from() + ", cause=" + e,
              e);
        }
        progress.add(bytes.byteSize());
      }
    }
  }

  /** Writes all to its place on the device, durably. */
  void restore(LogDevice device, Progress progress) {
    readAll((from, bytes) -> write(device, from, bytes), progress);
    try {
      device.force();
    } catch (IOException e) {
      throw new Corrupt("a snapshot cannot be made durable in its place: cause=" + e, e);
    }
  }

  private static void write(LogDevice device, long from, MemorySegment bytes) throws IOException {
    var ended = new CompletableFuture<Optional<IOException>>();
    device.write(from, bytes, problem -> ended.complete(Optional.ofNullable(problem)));
    Optional<IOException> problem = ended.join();
    if (problem.isPresent()) {
      throw problem.get();
    }
  }

  /** The bytes of an extent that the snapshot covers, at the start of {@code to}. */
  MemorySegment read(Extent extent, MemorySegment to) {
    MemorySegment bytes = to.asSlice(0, extent.until() - extent.from());
    int first = blocks.blockAt(extent.from());
    int last = blocks.blockAt(extent.until() - 1);
    for (int block = first; block <= last; block++) {
      readBlock(block, slice(block, extent, bytes));
    }
    if (Checksums.crc32c(bytes) != extent.crc()) {
      for (int block = first; block <= last; block++) {
        checkBlock(block, slice(block, extent, bytes));
      }
      throw new Corrupt(
          "the blocks of a snapshot do not make a page: file="
              + files.manifest(manifest.number())
              + ", offset=20 and above, address="
              + extent.from());
    }
    return bytes;
  }

  private MemorySegment slice(int block, Extent extent, MemorySegment bytes) {
    long from = blocks.blockFrom(block);
    long until = blocks.blockUntil(block);
    if (from < extent.from() || until > extent.until()) {
      throw new Corrupt(
          "a block of a snapshot is on two pages: file="
              + files.manifest(manifest.number())
              + ", offset=20 and above, address="
              + from);
    }
    return bytes.asSlice(from - extent.from(), until - from);
  }

  private void readBlock(int block, MemorySegment target) {
    Path file = files.snapshot(blocks.owner(block));
    try {
      FileChannel channel = open.get(blocks.owner(block));
      if (channel == null) {
        channel = FileChannel.open(file, StandardOpenOption.READ);
        open.put(blocks.owner(block), channel);
      }
      Transfers.readFully(channel, target, blocks.position(block));
    } catch (IOException e) {
      throw new Corrupt(
          "a snapshot cannot be read: file="
              + file
              + ", offset="
              + blocks.position(block)
              + ", cause="
              + e,
          e);
    }
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
  public void close() {
    for (FileChannel channel : open.values()) {
      try {
        channel.close();
      } catch (IOException e) {
        throw new Corrupt("a snapshot's file did not close: cause=" + e, e);
      }
    }
  }
}
