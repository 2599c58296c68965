package io.fasterkv.log;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.KeyFilter;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreException.DiskFull;
import io.fasterkv.api.StoreException.RecordTooLarge;
import io.fasterkv.device.LogDevice;
import io.fasterkv.epoch.EpochWait;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.epoch.StoreFailure;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import io.fasterkv.record.Address;
import io.fasterkv.record.RecordInfo;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The hybrid log (SIGMOD'18, sections 5 and 6): one address space over memory and disk, mutable at
 * its tail, read-only in the middle, on disk below.
 *
 * <p>Pages make room for new ones in steps of which none waits ({@link PageTurns}): a thread that
 * finds no room gets {@link #RETRY}, leaves its epoch so that the steps can go on, and comes again.
 */
public final class HybridLog {
  /** What its memory is for, as the budget calls it. */
  public static final String MEMORY = PageFrames.PURPOSE;

  /** No room yet: refresh the epoch, call {@link #assist()}, and start the operation again. */
  public static final long RETRY = -1;

  private final Epochs epochs;
  private final LogDevice device;
  private final PageFrames frames;
  private final LogMarks marks;
  private final TailAllocator tail;
  private final PageFlusher flusher;
  private final FlushedExtents extents;
  private final LogHolds holds;
  private final UpdateRegions regions;
  private final LargeWrites largeWrites;
  private final TailBrake brake = new TailBrake();
  private final UnpublishedValues unpublished = new UnpublishedValues();
  private final VoidRanges voids;
  private final @Nullable KeyFilter keyFilter;
  private final MemoryRoom room;
  private final boolean inMemory;
  private final PageTurns turns;
  private final LogHalving halving;
  private final StoreFailure failure;

  /** A log that goes on after {@code position}. */
  public HybridLog(
      StoreConfig config,
      OffHeapArena arena,
      Epochs epochs,
      LogDevice device,
      LogPosition position,
      StoreFailure failure) {
    this.epochs = epochs;
    this.device = device;
    this.failure = failure;
    frames = frames(config, arena);
    extents = position.extents();
    voids = position.voids();
    keyFilter = config.keyFilter();
    long start = Math.max(position.endAddress(), Address.FIRST);
    marks = new LogMarks(position.beginAddress(), start);
    tail = new TailAllocator(frames.pageBits(), start);
    flusher =
        new PageFlusher(frames, device, extents, position.endAddress(), this::onFlushed, failure);
    flusher.refused().waitAtMost(config.spaceWaitMillis());
    Truncation truncation = new Truncation(marks, extents, device, frames.pageBytes());
    inMemory = config.isInMemory();
    room = new MemoryRoom(frames, marks, tail, truncation, unpublished);
    regions = new UpdateRegions(marks, config.mutableFraction() == 0);
    holds = new LogHolds(marks, truncation, room::reconsider, this::freeMemory);
    largeWrites = new LargeWrites(inMemory, room, unpublished, tail::address);
    turns =
        new PageTurns(
            config, epochs, new PageTurns.Parts(frames, marks, tail, flusher, regions, truncation));
    halving = new LogHalving(frames, marks, tail, turns, epochs);
  }

  private static PageFrames frames(StoreConfig config, OffHeapArena arena) {
    long bytes = config.logMemoryBytes();
    return config.logHalvings() > 0
        ? PageFrames.resizable(arena, bytes, config.pageBytes(), config.segmentBytes())
        : new PageFrames(arena, bytes, config.pageBytes(), config.segmentBytes());
  }

  /** Whether {@link #halve} has something to give. */
  public boolean canHalve() {
    return halving.isPossible();
  }

  /**
   * Gives half of the log's memory back to the system, which is half of what it has now, and leaves
   * the budget as it is; returns how many bytes that is. Waits until what was in the other half is
   * on the device, or {@code goesOn} says no, and returns 0 then. Operations go on; one caller at a
   * time, which is not protected.
   */
  public long halve(BooleanSupplier goesOn) {
    return halving.run(goesOn);
  }

  /** The circular buffer; an address lies at {@link #offset}. */
  public MemorySegment memory() {
    return frames.memory();
  }

  public long offset(long address) {
    return frames.offset(address);
  }

  /** Direct access to the records in memory. */
  public LogView view() {
    return new LogView(frames.memory(), frames.mask(), marks.headMark(), regions.inPlaceMark());
  }

  public LogDevice device() {
    return device;
  }

  /** Whether there is no device: what is in memory is all there is, and all of that is mutable. */
  public boolean isInMemory() {
    return inMemory;
  }

  /** How far a log in memory may grow. */
  public MemoryRoom room() {
    return room;
  }

  /** What keeps the log from growing past what compaction can make up for. */
  public TailBrake brake() {
    return brake;
  }

  /** Where updates are made in place, and where they copy. */
  public UpdateRegions regions() {
    return regions;
  }

  /** What keeps parts of the log although its begin moves. */
  public LogHolds holds() {
    return holds;
  }

  /** For values that are written in pieces. */
  public LargeWrites largeWrites() {
    return largeWrites;
  }

  public FlushedExtents extents() {
    return extents;
  }

  /** What was undone by a recovery. */
  public VoidRanges voids() {
    return voids;
  }

  /** Whether a key is one that the store is there for. */
  boolean owns(ByteSpan key) {
    return keyFilter == null || keyFilter.owns(key);
  }

  public long beginAddress() {
    return marks.begin();
  }

  /** A chain that lies wholly below it may leave the index: no image of the index needs it. */
  public long removableBelow() {
    return marks.removable();
  }

  public long headAddress() {
    return marks.head();
  }

  /** At it and above, memory has what the caller has pinned. */
  public long pinnedFrom() {
    return inMemory ? marks.closed() : marks.head();
  }

  public long flushedAddress() {
    return marks.flushed();
  }

  /** Below it nobody changes a record any more, and all below it is on its way to the device. */
  public long safeReadOnlyAddress() {
    return marks.safeReadOnly();
  }

  /** At it and above nothing has been asked to be flushed, in an append-only log too. */
  public long readOnlyAddress() {
    return marks.readOnly();
  }

  public long tailAddress() {
    return tail.address();
  }

  public long pageBytes() {
    return frames.pageBytes();
  }

  /** A log up to this length is in memory as a whole; shorter once it was {@link #halve halved}. */
  public long wholeBytes() {
    return turns.wholePages() * frames.pageBytes();
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
   * Fresh zeroed bytes at the tail, or {@link #RETRY}. The caller is protected, and writes a record
   * header there before it refreshes.
   */
  public long allocate(long bytes) {
    return allocate(bytes, Claim.RECORD);
  }

  /** As {@link #allocate(long)}, telling what for. */
  public long allocate(long bytes, Claim claim) {
    checkFits(bytes);
    if (inMemory) {
      return allocateWithin(bytes, bytes, claim);
    }
    // The page is read first: if another thread turns it now, this one does not turn the next.
    long page = tail.page();
    if (isHeld(page)) {
      return RETRY;
    }
    long address = tail.allocate(bytes);
    if (address == TailAllocator.PAGE_FULL && turnPage(page)) {
      address = tail.allocate(bytes);
    }
    return orRetry(address);
  }

  /**
   * As {@link #allocate}, but as many bytes as the page has left: {@code most} at most, {@code
   * least} at least. How many follows from the address: up to the page's end, or {@code most}.
   */
  public long allocateUpTo(long least, long most) {
    checkFits(least);
    if (inMemory) {
      return allocateWithin(least, most, Claim.RECORD);
    }
    long page = tail.page();
    if (isHeld(page)) {
      return RETRY;
    }
    long address = tail.allocateUpTo(least, most);
    if (address == TailAllocator.PAGE_FULL && turnPage(page)) {
      address = tail.allocateUpTo(least, most);
    }
    return orRetry(address);
  }

  private boolean isHeld(long page) {
    return brake.holds(frames.pageStart(page) - marks.begin());
  }

  private static long orRetry(long address) {
    return address == TailAllocator.PAGE_FULL ? RETRY : address;
  }

  /** Without a device: on the pages that are for this. */
  private long allocateWithin(long least, long most, Claim claim) {
    long page = tail.page();
    long lastPage = room.lastPage(claim);
    boolean isMover = page >= lastPage && brake.isMover();
    if (isMover) {
      lastPage = room.lastPageForMover();
    }
    if (page <= lastPage) {
      long address = tail.allocateOn(page, least, most);
      if (address != TailAllocator.PAGE_FULL) {
        noteTaken(least, claim);
        return address;
      }
      if (page < lastPage) {
        throwIfFailed();
        turns.turn(page);
        return RETRY;
      }
    }
    throwIfFailed();
    if (isMover) {
      room.askForMover(least);
    } else {
      room.ask(least, claim);
    }
    return RETRY;
  }

  private void noteTaken(long bytes, Claim claim) {
    if (claim == Claim.FORK) {
      room.forked();
    } else if (room.isPassing() && !brake.isMover()) {
      room.took(bytes);
    }
  }

  /** How long a record may be. */
  public long maxRecordBytes() {
    return frames.pageBytes() - Address.FIRST;
  }

  /** Refuses a key of which a page does not hold two. */
  public void checkKey(int keyBytes) {
    long allowed = frames.pageBytes() / 2;
    if (keyBytes > allowed) {
      throw new RecordTooLarge(
          "a key does not fit half a page: keyBytes="
              + keyBytes
              + ", allowed=up to "
              + allowed
              + "; raise pageBytes, or hash long keys");
    }
  }

  /** Refuses a record that no page can hold. */
  private void checkFits(long bytes) {
    long allowed = maxRecordBytes();
    if (bytes > allowed) {
      throw new RecordTooLarge(
          "a record does not fit a page: recordBytes="
              + bytes
              + ", allowed=up to "
              + allowed
              + "; raise pageBytes");
    }
  }

  /** Helps the steps that make room along; throws when the device has failed. */
  public void assist() {
    throwIfFailed();
    turns.assist();
  }

  /**
   * Writes some of what is to be flushed on the calling thread, if the tail has no frame to go on
   * to; whether it has. The caller, who waits for one, is not protected.
   */
  public boolean writeForRoom() {
    return !turns.hasRoom() && device.writeOne();
  }

  /**
   * Makes all that is allocated now read-only and returns the address where that ends. The caller
   * is protected, so that nothing is flushed before this is done. Records below it are immutable
   * for every operation that starts after this returns, on any thread that has refreshed.
   */
  public long foldOver() {
    long end;
    regions.beginCut();
    try {
      end = alignTail();
      if (!inMemory) {
        flusher.endExtentAt(end);
      }
      regions.advanceReadOnly(end);
    } finally {
      regions.endCut();
    }
    turns.announceReadOnly();
    return end;
  }

  /** Moves the tail to the next sector of the device; the caller is protected. */
  private long alignTail() {
    long unit = device.sectorBytes();
    long endAndGap = tail.align(unit);
    long end = endAndGap & -unit;
    long gapBytes = endAndGap - end;
    if (gapBytes > 0) {
      Words.storeRelease(memory(), offset(end - gapBytes), RecordInfo.padding(gapBytes));
    }
    return end;
  }

  /**
   * Makes all that is allocated now immutable for some time, without making it read-only: until
   * {@link #thawSnapshot()} nothing below the address that is returned is updated in place, by any
   * operation that starts after this returns. The caller is protected; one freeze at a time. {@link
   * #awaitFrozen} waits for the operations before.
   */
  public long freezeForSnapshot() {
    long end = alignTail();
    regions.beginFreeze(end);
    return end;
  }

  /**
   * Waits until nobody changes what lies below {@code end}, which {@link #freezeForSnapshot} has
   * returned; the caller is not protected.
   */
  public void awaitFrozen(long end) {
    epochs.await(() -> regions.frozen(end), () -> "records to become frozen, " + this);
  }

  /**
   * Lets what was frozen be updated in place again, as far as it is not read-only; the caller is
   * not protected. Who still takes it to be frozen may be copying it, so the mark that says so goes
   * first, and the other when all have seen that.
   */
  public void thawSnapshot() {
    regions.beginThaw();
    epochs.await(() -> {}, () -> "copies of frozen records to end, " + this);
    regions.endThaw();
  }

  /**
   * Makes all below {@code address}, a page's start and at most the tail page's, immutable, and
   * waits until it is so, and on the device if there is one; the caller is not protected.
   */
  public void freeze(long address) {
    regions.advanceReadOnly(address);
    turns.announceReadOnly();
    awaitFlushed(address);
  }

  /** Waits until nobody changes what lies below {@code address}; the caller is not protected. */
  public void awaitImmutable(long address) {
    EpochWait wait = new EpochWait(epochs, () -> "records to become immutable, " + this);
    while (marks.safeReadOnly() < address) {
      assist();
      wait.pause();
    }
  }

  /**
   * Waits until the device has all bytes below {@code address}; the caller is not protected. If the
   * device has no space for them it is tried once more, and waited for no longer.
   *
   * @throws DiskFull if there is no space; the bytes stay in memory and are written when there is
   */
  public void awaitFlushed(long address) {
    long refusals = flusher.refused().tryNow();
    EpochWait wait = new EpochWait(epochs, () -> "the device to have all bytes, " + this);
    while (marks.flushed() < address) {
      assist();
      if (flusher.refused().isRefused(address, refusals)) {
        throw diskFull();
      }
      wait.pauseLonger();
    }
    throwIfFailed();
  }

  /** Whether the device has no space for what has been asked to be flushed. */
  public boolean isRefused() {
    return !flusher.refused().isEmpty();
  }

  private DiskFull diskFull() {
    return new DiskFull(
        "the disk is full: "
            + flusher.refused().describe()
            + "; free space there and ask again, nothing is lost: what could not be written is in"
            + " memory, and is tried again",
        flusher.refused().cause());
  }

  /**
   * From now on operations that would wait for a full disk fail, and those that wait do: the device
   * then counts as failed. For who wants to close the store; safe for all threads.
   */
  public void waitNoMore() {
    flusher.refused().waitAtMost(0);
  }

  /** Leaves the device's storage as it is, whatever is unpinned later, and starts no write. */
  public void close() {
    flusher.close();
    holds.close();
    turns.close();
    frames.close();
  }

  /** How far the log can be compacted: what is there is on disk, and in chains if it ever will. */
  public long compactableUntil() {
    // Read first: what is announced later is allocated above it.
    long flushed = marks.flushed();
    return Math.min(flushed, unpublished.lowest());
  }

  /** Bytes of log from its begin to its tail. */
  public long lengthBytes() {
    return tail.address() - marks.begin();
  }

  /**
   * Drops all below {@code address}, which is where a record begins and is flushed. The head moves
   * first, so that what is dropped is not found in memory either. Without a device the begin moves
   * first: nobody then takes what is dropped to be on disk, for longer than this takes.
   */
  public void truncate(long address) {
    if (!inMemory) {
      marks.advanceHead(address);
      turns.moveHead();
    }
    holds.advanceBegin(address);
    marks.advanceHead(address);
    freeMemory();
  }

  /** Makes durable what the device has; if that fails, no later attempt can be believed. */
  public void force() throws IOException {
    try {
      device.force();
    } catch (Throwable e) {
      failure.accept(e);
      throw e;
    }
  }

  /** The failure that ends the store's writes. */
  public StoreFailure failure() {
    return failure;
  }

  /** Told of what makes it unwise to go on. */
  public void fail(Throwable cause) {
    failure.accept(cause);
  }

  /** Whether something keeps the log from reaching the disk. */
  public boolean hasFailed() {
    return failure.isSet();
  }

  /** Throws if something keeps the log from reaching the disk. */
  public void throwIfFailed() {
    failure.throwIfSet();
  }

  /** Where the log stands. */
  @Override
  public String toString() {
    return marks
        + ", tail="
        + tail.address()
        + ", brake="
        + brake
        + ", refused="
        + flusher.refused().describe();
  }

  /** Whether this thread has turned a page that was full, and may allocate on the next. */
  private boolean turnPage(long page) {
    throwIfFailed();
    return turns.turn(page) && !isHeld(page + 1);
  }

  /** Without a device, the begin is what makes frames free. */
  private void freeMemory() {
    if (inMemory) {
      room.dropped();
      turns.moveHead();
    }
  }

  private void onFlushed(long address) {
    turns.flushed(address);
  }
}
