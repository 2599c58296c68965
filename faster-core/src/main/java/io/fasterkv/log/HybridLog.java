package io.fasterkv.log;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.device.LogDevice;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.spi.KeyFilter;
import io.fasterkv.state.StoreFailure;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The hybrid log (SIGMOD'18, sections 5 and 6): one address space over memory and disk, mutable at
 * its tail, read-only in the middle, on disk below.
 *
 * <p>Frames become free for new pages in non-blocking steps ({@link PageTurns}). A thread that
 * finds no room gets {@link #RETRY}, leaves its epoch so that the steps can continue, and retries.
 */
public final class HybridLog {
  /** The name of its memory in the memory budget. */
  public static final String MEMORY = PageFrames.PURPOSE;

  /**
   * There is no room yet: the caller must refresh its epoch, call {@link #assist()}, and retry the
   * operation.
   */
  public static final long RETRY = -1;

  private final PageFrames frames;
  private final LogMarks marks;
  private final TailAllocator tail;
  private final LogParts parts;
  private final RecordLimits limits;
  private final LogRoom room;
  private final LogCuts cuts;
  private final LogPins pins;
  private final UpdateRegions regions;
  private final LargeWrites largeWrites;
  private final @Nullable KeyFilter keyFilter;
  private final LogQuota quota;
  private final HeatMap heat = new HeatMap();

  /** Creates a log that continues after {@code position}. */
  public HybridLog(
      StoreConfig config,
      OffHeapArena arena,
      Epochs epochs,
      LogDevice device,
      LogPosition position,
      StoreFailure failure) {
    parts = LogParts.of(config, arena, epochs, device, position, failure);
    frames = parts.frames();
    marks = parts.marks();
    tail = parts.tail();
    regions = parts.regions();
    keyFilter = config.keyFilter();
    limits = new RecordLimits(frames.pageBytes());
    room = config.isInMemory() ? new MemoryRoom(parts) : new DeviceRoom(parts);
    cuts = new LogCuts(parts, room);
    pins = new LogPins(marks, parts.truncation(), room::keepEnded, room::pinEnded);
    largeWrites = new LargeWrites(room, parts);
    quota = new LogQuota(parts, room.turns());
  }

  /** The circular buffer; {@link #offset} is the position of an address. */
  public MemorySegment memory() {
    return frames.memory();
  }

  public long offset(long address) {
    return frames.offset(address);
  }

  /** Direct access to the records in memory, for callers that are protected. */
  public LogView view() {
    return new LogView(frames.memory(), frames.mask(), marks.headMark(), regions.inPlaceMark());
  }

  public LogDevice device() {
    return parts.device();
  }

  /** How the log makes room for new pages: with a device or without. */
  public LogRoom room() {
    return room;
  }

  /** Makes parts of the log immutable. */
  public LogCuts cuts() {
    return cuts;
  }

  /** Which keys and records fit a page. */
  public RecordLimits limits() {
    return limits;
  }

  /** How many pages have memory; returns memory to the system. */
  public LogQuota quota() {
    return quota;
  }

  /** Throttles the growth of the log so that compaction keeps up. */
  public TailLimit tailLimit() {
    return parts.tailLimit();
  }

  /** The regions where updates are made in place and where they copy. */
  public UpdateRegions regions() {
    return regions;
  }

  /** Keeps parts of the log after its begin has moved. */
  public LogPins pins() {
    return pins;
  }

  /** Support for values that are written in pieces. */
  public LargeWrites largeWrites() {
    return largeWrites;
  }

  /** Counts the reads from disk by parts of the log. */
  public HeatMap heat() {
    return heat;
  }

  public FlushedExtents extents() {
    return parts.position().extents();
  }

  /** The ranges that a recovery has undone. */
  public VoidRanges voids() {
    return parts.position().voids();
  }

  /** Whether the store owns a key. */
  boolean owns(ByteSpan key) {
    return keyFilter == null || keyFilter.owns(key);
  }

  public long beginAddress() {
    return marks.begin();
  }

  /**
   * A chain that is completely below this address may be removed from the index: no index image
   * needs it.
   */
  public long removableBelow() {
    return marks.removable();
  }

  public long headAddress() {
    return marks.head();
  }

  /**
   * At or above this address, a caller that is protected or has pinned the log finds records in
   * memory.
   */
  public long pinnedFrom() {
    return room.pinnedFrom();
  }

  public long flushedAddress() {
    return marks.flushed();
  }

  /**
   * No thread changes a record below this address any more, and all bytes below it are being
   * flushed.
   */
  public long safeReadOnlyAddress() {
    return marks.safeReadOnly();
  }

  /** Nothing at or above this address is being flushed, even in an append-only log. */
  public long readOnlyAddress() {
    return marks.readOnly();
  }

  public long tailAddress() {
    return tail.address();
  }

  public long pageBytes() {
    return frames.pageBytes();
  }

  /** The first address of the page of {@code address}. */
  public long pageStart(long address) {
    return frames.pageStart(frames.page(address));
  }

  /** The first address of the page that new records go to. */
  public long tailPageStart() {
    return frames.pageStart(tail.page());
  }

  /** The first address after the page of {@code address}. */
  public long pageEnd(long address) {
    return frames.pageEnd(address);
  }

  /**
   * Allocates zeroed bytes at the tail; returns their address or {@link #RETRY}. The caller must be
   * protected and must write a record header there before it refreshes.
   */
  public long allocate(long bytes) {
    return allocate(bytes, Claim.RECORD);
  }

  /** Like {@link #allocate(long)}, for a given purpose. */
  public long allocate(long bytes, Claim claim) {
    limits.checkRecord(bytes);
    return room.allocate(bytes, claim);
  }

  /**
   * Like {@link #allocate}, but takes the rest of the page: at most {@code most} and at least
   * {@code least} bytes. The address tells how many: up to the page's end, or {@code most}.
   */
  public long allocateUpTo(long least, long most) {
    limits.checkRecord(least);
    return room.allocateUpTo(least, most);
  }

  /** Advances the steps that free frames; throws if the device has failed. */
  public void assist() {
    room.turns().assist();
  }

  /** Starts no more writes, and removes no storage of the device even if pins end later. */
  public void close() {
    room.close();
    pins.close();
    frames.close();
  }

  /**
   * The address up to which the log can be compacted. Records below it are flushed, and are in
   * their chains if they ever will be.
   */
  public long compactableUntil() {
    // Read the flushed address first: values announced later are allocated above it.
    long flushed = marks.flushed();
    return Math.min(flushed, parts.unpublished().lowest());
  }

  /** Length of the log from its begin to its tail. */
  public long lengthBytes() {
    return tail.address() - marks.begin();
  }

  /** Drops everything below {@code address}, which must be the start of a record and flushed. */
  public void truncate(long address) {
    room.beginMoves(address);
    pins.advanceBegin(address);
    room.beginMoved(address);
  }

  /** The failure that ends the store's writes. */
  public StoreFailure failure() {
    return parts.failure();
  }

  /** The state of the log, for messages. */
  @Override
  public String toString() {
    return parts.describe() + room.describe();
  }
}
