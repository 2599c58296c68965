package io.fasterkv.checkpoint.inspect;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.checkpoint.manifest.CheckpointFiles;
import io.fasterkv.checkpoint.manifest.CheckpointManifest;
import io.fasterkv.checkpoint.manifest.SnapshotBlocks;
import io.fasterkv.checkpoint.recover.IndexImageReader;
import io.fasterkv.checkpoint.recover.SnapshotReader;
import io.fasterkv.device.file.SegmentReader;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.memory.Checksums;
import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OffHeapArena;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads all bytes of a checkpoint without a store; changes nothing. Has memory of its own: one page
 * to read to, and one for each chunk of a large value. One thread at a time.
 */
final class CheckpointImage implements AutoCloseable {
  private final CheckpointFiles files;
  private final CheckpointManifest manifest;
  private final OffHeapArena arena;
  private final MemorySegment page;
  private final MemorySegment other;
  private final SegmentReader segments;
  private final @Nullable SnapshotReader snapshot;

  CheckpointImage(CheckpointFiles files, CheckpointManifest manifest) {
    this.files = files;
    this.manifest = manifest;
    int pageBytes = manifest.shape().pageBytes();
    arena = new OffHeapArena(new MemoryBudget(2L * pageBytes));
    page = arena.allocate("pages of a checkpoint", pageBytes, OffHeapArena.PAGE_ALIGNMENT);
    other = arena.allocate("pages of a checkpoint", pageBytes, OffHeapArena.PAGE_ALIGNMENT);
    segments = new SegmentReader(files.directory(), manifest.shape().segmentBytes());
    SnapshotBlocks blocks = manifest.log().snapshot();
    snapshot = blocks == null ? null : new SnapshotReader(files, manifest, blocks);
  }

  CheckpointManifest manifest() {
    return manifest;
  }

  /** Reads the image of the index, if there is one, and verifies its checksums. */
  void verifyIndex() {
    var image = manifest.index().image();
    if (image != null) {
      Path file = files.index(image.of());
      try (IndexImageReader reader = new IndexImageReader(file, manifest.index(), null)) {
        reader.readAll(page);
      }
    }
  }

  List<Extent> extents() {
    return manifest.log().extents();
  }

  /** The verified bytes of an extent; valid until the next read. */
  MemorySegment read(Extent extent) {
    return read(extent, page);
  }

  /** The verified bytes from an address to the end of its extent; valid until the next call. */
  MemorySegment readFrom(long address) {
    List<Extent> extents = extents();
    int low = 0;
    int high = extents.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (extents.get(middle).until() <= address) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low == extents.size() || extents.get(low).from() > address) {
      throw new Corrupt("an address is not in the checkpoint: address=" + address);
    }
    MemorySegment bytes = read(extents.get(low), other);
    return bytes.asSlice(address - extents.get(low).from());
  }

  private MemorySegment read(Extent extent, MemorySegment to) {
    if (snapshot != null && extent.from() >= manifest.deviceEnd()) {
      return snapshot.read(extent, to);
    }
    MemorySegment bytes = to.asSlice(0, extent.until() - extent.from());
    try {
      segments.read(extent.from(), bytes);
    } catch (IOException e) {
      throw new Corrupt(
          "a page cannot be read: " + segments.place(extent.from()) + ", cause=" + e, e);
    }
    if (Checksums.crc32c(bytes) != extent.crc()) {
      throw new Corrupt(
          "a page's checksum is wrong: "
              + segments.place(extent.from())
              + ", bytes="
              + bytes.byteSize());
    }
    return bytes;
  }

  /** Describes the place of an address for an error message. */
  String place(long address) {
    SnapshotBlocks blocks = manifest.log().snapshot();
    if (blocks != null && address >= blocks.from()) {
      int block = blocks.blockAt(address);
      return "file="
          + files.snapshot(blocks.owner(block))
          + ", offset="
          + (blocks.position(block) + address - blocks.blockFrom(block));
    }
    return segments.place(address);
  }

  @Override
  public void close() {
    try (arena) {
      if (snapshot != null) {
        snapshot.close();
      }
      segments.close();
    } catch (IOException e) {
      throw new Corrupt("a segment did not close: directory=" + files.directory(), e);
    }
  }
}
