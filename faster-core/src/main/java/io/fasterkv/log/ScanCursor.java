package io.fasterkv.log;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.memory.Checksums;
import io.fasterkv.memory.Words;
import io.fasterkv.record.Address;
import io.fasterkv.record.ForkRecord;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Reads all records of a range in the order of their addresses, a page at a time: from memory if
 * the page is there, otherwise from the device, verifying its checksum. Records that may still be
 * updated in place are copied one by one, each in a consistent state. Records of keys that the
 * store does not own are skipped. Uses one page of scratch memory and one epoch slot, protected
 * only while bytes are copied, and memory for a large value while that is in use. One thread at a
 * time.
 */
public final class ScanCursor implements AutoCloseable {
  /** How much of a page is copied record by record before the epoch is released. */
  private static final long LIVE_PIECE_BYTES = 64 << 10;

  private final HybridLog log;
  private final RecordLayout layout;
  private final BufferPool buffers;
  private final MemorySegment buffer;
  private final EpochUser user;
  private final ScanRange range;
  private final ByteSpan key = new ByteSpan();
  private final ByteSpan value = new ByteSpan();
  private final ScannedValue large;
  private boolean withChunks;
  private boolean withForks;
  private long hiddenChunkBytes;
  private long endedBytes;

  private long loadedFrom;
  private long loadedUntil;
  private long next;
  private long address;
  private long info;

  /** The anchor of the current record's value; null if the value is in the record. */
  private @Nullable LargeAnchor anchor;

  private boolean isReturned;

  public ScanCursor(
      HybridLog log, Epochs epochs, RecordLayout layout, BufferPool buffers, ScanRange range) {
    this.log = log;
    this.layout = layout;
    this.buffers = buffers;
    this.range = range;
    // A page begins with a record; any other address need not be one's start.
    next = Math.max(range.begin(), log.pageStart(range.from()));
    loadedFrom = next;
    loadedUntil = next;
    user = epochs.register();
    large = new ScannedValue(log, buffers, user);
    try {
      buffer = buffers.take((int) log.pageBytes());
    } catch (Throwable e) {
      user.close();
      throw e;
    }
  }

  /** Makes the scan also return the first chunk of each large value, on behalf of the value. */
  public ScanCursor withFirstChunks() {
    withChunks = true;
    return this;
  }

  /**
   * Makes the scan also return forks, which have neither key nor value; {@link #isFork} tells them.
   */
  public ScanCursor withForks() {
    withForks = true;
    return this;
  }

  /**
   * Moves to the next record that is in a chain, including tombstones; returns false at the end.
   *
   * <p>A tombstone with nothing below it in its chain is skipped. Its record may have been removed
   * from the index when it was deleted, and a record that took the freed entry may have been
   * allocated before it; so of these two, the one with the higher address is not the newer. {@link
   * ScanRange#chainsEnd()} tells what counts as below: a reader that has seen records which no
   * longer exist must also see their deletion.
   */
  public boolean next() {
    large.release();
    while (next < range.until()) {
      if (next >= loadedUntil) {
        load();
      }
      address = next;
      info = Words.loadPlain(buffer, address - loadedFrom);
      if (!RecordInfo.isPresent(info)) {
        next = endOfPage();
      } else if (RecordInfo.isPadding(info)) {
        next = checked(RecordInfo.paddingBytes(info));
      } else if (RecordInfo.isFork(info)) {
        next = checked(ForkRecord.BYTES);
        if (withForks && address >= range.from()) {
          key.release();
          value.release();
          anchor = null;
          return true;
        }
      } else {
        checked(layout.headerBytes());
        next = checked(layout.recordBytes(buffer, address - loadedFrom));
        if (isHiddenChunk()) {
          hiddenChunkBytes += next - address;
        } else if (address >= range.from()) {
          if (isShown()) {
            wrap();
            if (log.owns(key)) {
              return true;
            }
          }
          endedBytes += next - address;
        }
      }
    }
    return false;
  }

  /** Chunks have no version: they are valid if the anchor that leads to them is. */
  private boolean isShown() {
    return !RecordInfo.isInvalid(info)
        && !isEndOfChain()
        && (RecordInfo.isChunk(info) || !log.voids().contains(address, info));
  }

  private boolean isEndOfChain() {
    return RecordInfo.isTombstone(info) && RecordInfo.previousAddress(info) < range.chainsEnd();
  }

  private boolean isHiddenChunk() {
    return RecordInfo.isChunk(info)
        && !(withChunks && RecordInfo.previousAddress(info) == Address.NONE);
  }

  /** Bytes of chunks so far that the scan did not return. */
  public long hiddenChunkBytes() {
    return hiddenChunkBytes;
  }

  /** Bytes of dead records so far: deleted, abandoned, or of keys that the store does not own. */
  public long endedBytes() {
    return endedBytes;
  }

  public long address() {
    return address;
  }

  /**
   * Reads the keys of the current and the following records, as far as they were loaded together;
   * returns the address that it reached. The result is valid until the scan passes that address.
   */
  public long upcoming(UpcomingKeys keys) {
    long until = loadedUntil - loadedFrom;
    return loadedFrom + keys.read(layout, buffer, address - loadedFrom, until);
  }

  /** End of the record, including its spare capacity. */
  public long endAddress() {
    return next;
  }

  /** The lowest address of the record and its value. */
  public long lowestAddress() {
    return anchor == null ? address : anchor.oldest();
  }

  /** True if a newer record of the key is certainly in the chain; false means unknown. */
  public boolean isOverwritten() {
    return RecordInfo.isOverwritten(info);
  }

  public long previousAddress() {
    return RecordInfo.previousAddress(info);
  }

  /**
   * Whether the key is deleted as of this record. A large value whose first chunk no longer exists
   * counts as deleted: it has expired, or was moved and is returned at its new place.
   */
  public boolean isTombstone() {
    return RecordInfo.isTombstone(info) || (anchor != null && anchor.oldest() < range.begin());
  }

  /** Whether this is the first chunk of a large value, which is not a record of a chain. */
  public boolean isChunk() {
    return RecordInfo.isChunk(info);
  }

  /** Whether the record has the anchor of a large value. */
  public boolean isLarge() {
    return RecordInfo.isLarge(info);
  }

  /** Whether this is a fork, which has no key. */
  public boolean isFork() {
    return RecordInfo.isFork(info);
  }

  public boolean isDelta() {
    return RecordInfo.isDelta(info);
  }

  /** The key; valid until the next move. */
  public ByteSpan key() {
    return key;
  }

  /**
   * The value; valid until the next move. A large value is assembled by this call in scratch
   * memory, for which it waits if other threads use it.
   *
   * @throws io.fasterkv.api.StoreException.OutOfBudget if the value is larger than scratch memory,
   *     or if that does not become free
   */
  public ByteSpan value() {
    if (anchor != null && !large.isRead() && !isTombstone()) {
      large.read(anchor, key, value);
    }
    return value;
  }

  @Override
  public void close() {
    user.close();
    returnBuffers();
  }

  /**
   * Returns scratch memory without accessing any off-heap memory, for a scan that was never closed.
   */
  public void returnBuffers() {
    if (!isReturned) {
      isReturned = true;
      large.release();
      buffers.give(buffer);
    }
  }

  private void load() {
    long end = Math.min(log.pageEnd(next), range.end());
    user.protect();
    try {
      // After a recovery, the page where the log continues has its older records only on the
      // device.
      boolean isInMemory = next >= log.pinnedFrom();
      if (isInMemory && end > log.safeReadOnlyAddress()) {
        copyChanging(Math.min(end, next + LIVE_PIECE_BYTES));
        return;
      }
      if (isInMemory) {
        MemorySegment.copy(log.memory(), log.offset(next), buffer, 0, end - next);
        loadedFrom = next;
        loadedUntil = end;
        return;
      }
    } finally {
      user.unprotect();
    }
    loadFromDevice();
  }

  /** Copies whole records up to the first record end at or above {@code end}. */
  private void copyChanging(long end) {
    MemorySegment memory = log.memory();
    long at = next;
    while (at < end) {
      long record = log.offset(at);
      long word = RecordLayout.info(memory, record);
      long target = at - next;
      if (!RecordInfo.isPresent(word) || RecordInfo.isPadding(word)) {
        Words.storePlain(buffer, target, word);
        at += RecordInfo.isPresent(word) ? RecordInfo.paddingBytes(word) : log.pageEnd(at) - at;
      } else if (RecordInfo.isFork(word)) {
        MemorySegment.copy(memory, record, buffer, target, ForkRecord.BYTES);
        at += ForkRecord.BYTES;
      } else {
        layout.copyConsistently(memory, record, buffer, target);
        Words.storePlain(buffer, target, word);
        at += layout.recordBytes(memory, record);
      }
    }
    loadedFrom = next;
    loadedUntil = at;
  }

  private void loadFromDevice() {
    Extent extent = log.extents().at(next);
    MemorySegment target = buffer.asSlice(0, extent.until() - extent.from());
    try {
      log.device().readNow(extent.from(), target);
    } catch (IOException e) {
      throw new DeviceFailed("a page could not be read: " + log.device().place(extent.from()), e);
    }
    if (Checksums.crc32c(target) != extent.crc()) {
      throw new Corrupt(
          "a page is not what was written: "
              + log.device().place(extent.from())
              + ", bytes="
              + target.byteSize());
    }
    loadedFrom = extent.from();
    loadedUntil = Math.min(extent.until(), range.end());
  }

  private LargeAnchor readAnchor(long record) {
    LargeAnchor found = LargeAnchor.read(buffer, record);
    if (found == null) {
      throw new Corrupt(
          "the anchor of a large value is not what was written: " + log.device().place(address));
    }
    return found;
  }

  /** Nothing follows on this page; the loaded bytes may be only a part of it. */
  private long endOfPage() {
    return Math.min(log.pageEnd(address), range.end());
  }

  private long checked(long recordBytes) {
    long after = address + recordBytes;
    boolean isSize = recordBytes >= RecordInfo.BYTES && recordBytes % Long.BYTES == 0;
    if (!isSize || after > loadedUntil) {
      throw new Corrupt(
          "a record's size is out of range: recordBytes="
              + recordBytes
              + ", "
              + log.device().place(address));
    }
    return after;
  }

  private void wrap() {
    long record = address - loadedFrom;
    if (!layout.isSound(buffer, record, next - address)) {
      throw new Corrupt(
          "a record's sizes do not fit each other: recordBytes="
              + (next - address)
              + ", "
              + log.device().place(address));
    }
    int keyBytes = layout.keyBytes(buffer, record);
    int valueBytes = layout.valueBytes(buffer, record);
    key.wrap(buffer, layout.keyOffset(record), keyBytes, keyBytes);
    anchor = null;
    if (RecordInfo.isLarge(info)) {
      anchor = readAnchor(record);
      value.release();
      return;
    }
    value.wrap(buffer, layout.valueOffset(buffer, record), valueBytes, valueBytes);
  }
}
