package io.fasterkv.log;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.KeyFilter;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.StoreException.DiskFull;
import io.fasterkv.api.StoreException.RecordTooLarge;
import io.fasterkv.device.LogDevice;
import io.fasterkv.epoch.EpochWait;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.epoch.FirstFailure;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import io.fasterkv.record.Address;
import io.fasterkv.record.RecordInfo;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The hybrid log (SIGMOD'18, sections 5 and 6): one address space over memory and disk, mutable at
 * its tail, read-only in the middle, on disk below.
 *
 * <p>Whoever turns the tail to a new page moves the read-only mark after it; when every thread has
 * seen that, the pages below are flushed; when they are flushed the head moves; when every thread
 * has seen that, the frames are cleared and take new pages. None of these steps waits: a thread
 * that finds no room gets {@link #RETRY}, leaves its epoch so that the steps can go on, and comes
 * again.
 */
public final class HybridLog {
  /** No room yet: refresh the epoch, call {@link #assist()}, and start the operation again. */
  public static final long RETRY = -1;

  /** Pages between head and tail that are read-only at least, so that flushing can keep up. */
  private static final long MIN_READ_ONLY_PAGES = 2;

  private final Epochs epochs;
  private final LogDevice device;
  private final PageFrames frames;
  private final LogMarks marks;
  private final TailAllocator tail;
  private final PageFlusher flusher;
  private final FlushedExtents extents;
  private final Truncation truncation;
  private final TailBrake brake = new TailBrake();
  private final UnpublishedValues unpublished = new UnpublishedValues();
  private final VoidRanges voids;
  private final @Nullable KeyFilter keyFilter;
  private final MemoryRoom room;
  private final boolean inMemory;
  private final long mutablePages;
  private final boolean appendOnly;

  /** The read-only mark, or the end of what is frozen, if that is higher. */
  private final AtomicLong inPlaceFromMark;

  /** Below it all is frozen, and every thread has seen that; 0 if nothing is. */
  private final AtomicLong safeFrozen = new AtomicLong();

  /** What got into no chain below it stays out of all. */
  private final AtomicLong fillFloor = new AtomicLong();

  /** Below it all was frozen once. */
  private final AtomicLong wasFrozen = new AtomicLong();

  private final AtomicLong readOnlyAnnounced;
  private final AtomicLong headAnnounced;
  private final AtomicLong cutsBegun = new AtomicLong();
  private final AtomicLong cutsEnded = new AtomicLong();
  private final FirstFailure failure;

  /** A log that goes on after {@code position}. */
  public HybridLog(
      StoreConfig config,
      OffHeapArena arena,
      Epochs epochs,
      LogDevice device,
      LogPosition position,
      FirstFailure failure) {
    this.epochs = epochs;
    this.device = device;
    this.failure = failure;
    frames =
        new PageFrames(arena, config.logMemoryBytes(), config.pageBytes(), config.segmentBytes());
    extents = position.extents();
    voids = position.voids();
    keyFilter = config.keyFilter();
    long start = Math.max(position.endAddress(), Address.FIRST);
    marks = new LogMarks(position.beginAddress(), start);
    tail = new TailAllocator(frames.pageBits(), start);
    flusher =
        new PageFlusher(frames, device, extents, position.endAddress(), this::onFlushed, failure);
    flusher.refused().waitAtMost(config.spaceWaitMillis());
    truncation = new Truncation(marks, extents, device, frames.pageBytes());
    inMemory = config.isInMemory();
    room = new MemoryRoom(frames, marks, tail, truncation, unpublished);
    mutablePages =
        Math.clamp(
            (long) (frames.count() * config.mutableFraction()),
            0,
            inMemory ? frames.count() : frames.count() - MIN_READ_ONLY_PAGES);
    appendOnly = config.mutableFraction() == 0;
    inPlaceFromMark = new AtomicLong(appendOnly ? Long.MAX_VALUE : start);
    readOnlyAnnounced = new AtomicLong(start);
    headAnnounced = new AtomicLong(start);
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
    return new LogView(frames.memory(), frames.mask(), marks.headMark(), inPlaceFromMark);
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

  /** At it and above an update is made in place; in an append-only log, nowhere. */
  public long inPlaceFrom() {
    return inPlaceFromMark.getAcquire();
  }

  /**
   * Below it an update copies; between it and {@link #inPlaceFrom()} some thread may be updating.
   */
  public long copyBelow() {
    return appendOnly ? Long.MAX_VALUE : Math.max(marks.safeReadOnly(), safeFrozen.getAcquire());
  }

  /**
   * Below it nobody updates a record in place that has a newer one of its key above it. What was
   * frozen is that for ever: who puts a record above one that may be updated in place takes care of
   * that, and what was put there while it was frozen needs no care. So no delta is put above such a
   * record in the fuzzy region, as it is elsewhere.
   */
  public long settledBelow() {
    return Math.max(copyBelow(), wasFrozen.getAcquire());
  }

  /**
   * Below it nobody updates a record in place any more, also when the caller has left its epoch:
   * what is only frozen may thaw.
   */
  public long immutableBelow() {
    return appendOnly ? Long.MAX_VALUE : marks.safeReadOnly();
  }

  /** At it and above nothing has been asked to be flushed, in an append-only log too. */
  public long readOnlyAddress() {
    return marks.readOnly();
  }

  /**
   * Names a moment in which no cut was being made, or is negative. If it is the same later, no
   * record that was allocated in between is separated by a cut from one that was mutable before.
   */
  public long uncutSince() {
    long ended = cutsEnded.get();
    return cutsBegun.get() == ended ? ended : -1;
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
    if (brake.holds(frames.pageStart(page) - marks.begin())) {
      return RETRY;
    }
    return allocated(tail.allocate(bytes), page);
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
    if (brake.holds(frames.pageStart(page) - marks.begin())) {
      return RETRY;
    }
    return allocated(tail.allocateUpTo(least, most), page);
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
        turnPage(page);
        return RETRY;
      }
    }
    throwIfFailed();
    if (isMover) {
      room.askForMover(least);
    } else {
      room.ask(least);
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

  private long allocated(long address, long page) {
    if (address != TailAllocator.PAGE_FULL) {
      return address;
    }
    turnPage(page);
    return RETRY;
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
    announceReadOnly();
    moveHead();
    epochs.drain();
  }

  /**
   * Makes all that is allocated now read-only and returns the address where that ends. The caller
   * is protected, so that nothing is flushed before this is done. Records below it are immutable
   * for every operation that starts after this returns, on any thread that has refreshed.
   */
  public long foldOver() {
    cutsBegun.incrementAndGet();
    long end = alignTail();
    if (!inMemory) {
      flusher.endExtentAt(end);
    }
    advanceReadOnly(end);
    cutsEnded.incrementAndGet();
    announceReadOnly();
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
    fillNothingBelow(end);
    if (!appendOnly) {
      inPlaceFromMark.accumulateAndGet(end, Math::max);
    }
    return end;
  }

  /**
   * Waits until nobody changes what lies below {@code end}, which {@link #freezeForSnapshot} has
   * returned; the caller is not protected.
   */
  public void awaitFrozen(long end) {
    epochs.await(
        () -> {
          wasFrozen.setRelease(end);
          safeFrozen.setRelease(end);
        },
        () -> "records to become frozen, " + this);
  }

  /**
   * Lets what was frozen be updated in place again, as far as it is not read-only; the caller is
   * not protected. Who still takes it to be frozen may be copying it, so the mark that says so goes
   * first, and the other when all have seen that.
   */
  public void thawSnapshot() {
    safeFrozen.setRelease(0);
    epochs.await(() -> {}, () -> "copies of frozen records to end, " + this);
    synchronized (safeFrozen) {
      if (!appendOnly) {
        inPlaceFromMark.set(marks.readOnly());
      }
    }
  }

  /**
   * From now on no record below {@code address} gets into a chain that was not in one, but for
   * operations that are under way: a checkpoint has been told what is there.
   */
  public void fillNothingBelow(long address) {
    fillFloor.accumulateAndGet(address, Math::max);
  }

  /** Whether a record that got into no chain may be filled again, for a protected caller. */
  public boolean mayFillAgain(long address) {
    return address >= marks.readOnly() && address >= fillFloor.getAcquire();
  }

  /**
   * Moves the read-only mark, and what follows from it. The lock keeps a thaw from putting the mark
   * for updates in place below it; it is taken once a page and once a cut.
   */
  private void advanceReadOnly(long address) {
    synchronized (safeFrozen) {
      marks.advanceReadOnly(address);
      inPlaceFromMark.accumulateAndGet(marks.readOnly(), Math::max);
    }
  }

  /**
   * Makes all below {@code address}, a page's start and at most the tail page's, immutable, and
   * waits until it is so, and on the device if there is one; the caller is not protected.
   */
  public void freeze(long address) {
    advanceReadOnly(address);
    announceReadOnly();
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
      wait.pause();
    }
    throwIfFailed();
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

  /**
   * Keeps all that the log holds now, on disk and in the index, even if its begin moves, until
   * {@link #unpin}, which the caller of the store decides about. Returns the begin.
   */
  public long pin() {
    return truncation.pin();
  }

  /** Ends a {@link #pin}. */
  public void unpin(long begin) {
    try {
      truncation.unpin(begin);
      room.reconsider();
      freeMemory();
    } catch (IOException e) {
      throw new DeviceFailed("old segments could not be removed: " + e.getMessage(), e);
    }
  }

  /** As {@link #pin}, until {@link #unpinBrief}, which comes whatever the store's caller does. */
  public long pinBriefly() {
    return truncation.pinBriefly();
  }

  /** Ends a {@link #pinBriefly}. */
  public void unpinBrief(long begin) {
    try {
      truncation.unpinBrief(begin);
      freeMemory();
    } catch (IOException e) {
      throw new DeviceFailed("old segments could not be removed: " + e.getMessage(), e);
    }
  }

  /** Leaves the device's storage as it is, whatever is unpinned later, and starts no write. */
  public void close() {
    flusher.close();
    truncation.close();
  }

  /**
   * Tells that chunks are going to be allocated whose anchor is not in its chain yet: all from the
   * address that is returned on stays out of compaction's reach until {@link #endUnpublished}.
   */
  public long beginUnpublished() {
    return unpublished.add(this::tailAddress);
  }

  /** Ends {@link #beginUnpublished}: the anchor is in its chain, or never will be. */
  public void endUnpublished(long address) {
    unpublished.remove(address);
  }

  /**
   * Takes the turn to write the chunks of a value, and keeps the room to move it later; false if
   * another session has the turn, and the caller, unprotected, comes again. Ends with {@link
   * #endChunks}. With a device there are no turns.
   */
  public boolean tryBeginChunks(int keyBytes, int valueBytes) {
    return !inMemory || room.large().tryBegin(room.largePages(keyBytes, valueBytes));
  }

  /**
   * Ends {@link #tryBeginChunks}; the chunks begin at {@code oldest}, or at 0 if there are none.
   */
  public void endChunks(long oldest, int keyBytes, int valueBytes) {
    if (inMemory && oldest == Address.NONE) {
      room.large().giveUp();
    } else if (inMemory) {
      room.large().written(oldest, room.largePages(keyBytes, valueBytes), true);
    }
  }

  /** Notes that compaction has written the chunks of a value. */
  public void wroteChunks(long oldest, int keyBytes, int valueBytes) {
    if (inMemory) {
      room.large().written(oldest, room.largePages(keyBytes, valueBytes), false);
    }
  }

  /** Refuses a large value that the log's memory could not hold and move. */
  public void checkLarge(int keyBytes, int valueBytes) {
    if (inMemory) {
      room.checkLarge(keyBytes, valueBytes);
    }
  }

  /** How far the log can be compacted: what is there is on disk, and in chains if it ever will. */
  public long compactableUntil() {
    // Read first: what is announced later is allocated above it.
    long flushed = marks.flushed();
    return Math.min(flushed, unpublished.lowest());
  }

  /** Keeps the device's bytes from {@code address} on, until {@link #release}. */
  public void retain(long address) {
    truncation.retain(address);
  }

  /** Ends a {@link #retain}. */
  public void release(long address) {
    try {
      truncation.release(address);
    } catch (IOException e) {
      throw new DeviceFailed("old segments could not be removed: " + e.getMessage(), e);
    }
  }

  /** Gives back what the device has below all that is needed, for example after a restart. */
  public void giveBack() {
    try {
      truncation.giveBack();
    } catch (IOException e) {
      throw new DeviceFailed("old segments could not be removed: " + e.getMessage(), e);
    }
  }

  /** The first address that the device still keeps. */
  public long storedFrom() {
    return truncation.givenBackUntil();
  }

  /**
   * Whether storage stays when the begin moves on: a checkpoint, or a cut, scan or history of the
   * store's caller, needs it.
   */
  public boolean isHeld() {
    return truncation.isHeld();
  }

  /** Bytes below the begin that the device still keeps. */
  public long heldBytes() {
    return Math.max(0, marks.begin() - Math.max(truncation.givenBackUntil(), Address.FIRST));
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
      moveHead();
    }
    try {
      truncation.advanceBegin(address);
      marks.advanceHead(address);
      freeMemory();
    } catch (IOException e) {
      throw new DeviceFailed("old segments could not be removed: " + e.getMessage(), e);
    }
  }

  /** Makes durable what the device has; if that fails, no later attempt can be believed. */
  public void force() throws IOException {
    try {
      device.force();
    } catch (IOException e) {
      failure.accept(e);
      throw e;
    }
  }

  /** Told of what makes it unwise to go on. */
  public void fail(Throwable cause) {
    failure.accept(cause);
  }

  /** Throws if something keeps the log from reaching the disk. */
  public void throwIfFailed() {
    Throwable cause = failure.get();
    if (cause != null) {
      throw new DeviceFailed(
          "the log's device has failed, the store takes no more writes: " + cause.getMessage(),
          cause);
    }
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

  private void turnPage(long page) {
    throwIfFailed();
    long closedNeeded = frames.pageStart(page + 2 - frames.count());
    if (marks.closed() < closedNeeded) {
      flusher.refused().roomWanted();
      assist();
      return;
    }
    if (tail.turn(page)) {
      advanceReadOnly(frames.pageStart(page + 1 - mutablePages));
      assist();
    }
  }

  /** Without a device, the begin is what makes frames free. */
  private void freeMemory() {
    if (inMemory) {
      room.dropped();
      moveHead();
    }
  }

  /** Sees to it that an action follows the latest move of the read-only mark. */
  private void announceReadOnly() {
    long readOnly = marks.readOnly();
    if (readOnlyAnnounced.getAcquire() < readOnly
        && epochs.tryBump(() -> onReadOnlySafe(readOnly))) {
      readOnlyAnnounced.accumulateAndGet(readOnly, Math::max);
    }
  }

  private void onReadOnlySafe(long address) {
    marks.advanceSafeReadOnly(address);
    if (inMemory) {
      marks.advanceFlushed(address);
    } else {
      flusher.flushUntil(address);
    }
  }

  private void onFlushed(long address) {
    marks.advanceFlushed(address);
    moveHead();
  }

  /** Keeps a frame free ahead of the tail, as far as the flush has come. */
  private void moveHead() {
    if (inMemory) {
      // Pinned readers look below the head as well.
      announceHead(Math.min(marks.head(), truncation.givenBackUntil()));
      return;
    }
    long wanted = frames.pageStart(tail.page() + 2 - frames.count());
    long possible = frames.pageStart(frames.page(marks.flushed()));
    long target = Math.min(wanted, possible);
    if (target > marks.head()) {
      marks.advanceHead(target);
    }
    announceHead(marks.head());
  }

  /** Sees to it that the frames below {@code head} are cleared. */
  private void announceHead(long head) {
    if (headAnnounced.getAcquire() < head && epochs.tryBump(() -> onHeadSafe(head))) {
      headAnnounced.accumulateAndGet(head, Math::max);
    }
  }

  private void onHeadSafe(long address) {
    long from = marks.closed();
    if (address > from) {
      frames.clear(from, address);
      marks.advanceClosed(address);
    }
  }
}
