package io.fasterkv.operation.move;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.config.KeepRule;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.EpochWait;
import io.fasterkv.log.ChunkCursor;
import io.fasterkv.log.ChunkWriter;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.LargeReader;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.NewRecord;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.RecordLatch;
import io.fasterkv.operation.move.NewestSearch.Found;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Copies live large values whose chunks are at the head of the log to its tail.
 *
 * <p>The first chunk stands for its value, since no other chunk of the value is below it. So
 * compaction examines only first chunks; when it reaches the other chunks and the anchor, these are
 * dead or copied. A value is live if the newest record of its key is an anchor that leads to that
 * first chunk. It is then copied a chunk at a time through scratch memory, in the order in which
 * its chunks are found, and an anchor of the copy is put on top of the chain if the old anchor is
 * still the newest record. Without a device, the copy has one chunk on each page whatever the
 * original's pieces are, so that room for it can be reserved. One thread at a time.
 */
public final class LargeMover implements AutoCloseable {
  /** The value may be live: its key's newest record is a delta. */
  public static final long UNDER_DELTAS = -1;

  private final Engine engine;
  private final HybridLog log;
  private final NewestSearch search;
  private final Operation<Void, Void, Void> op;
  private final NewRecord fresh;
  private final RecordLatch latch;
  private final EpochUser user;
  private final EpochWait wait;
  private final LargeReader reader;
  private final ChunkWriter writer;
  private final @Nullable KeepQuestion rule;

  /** Pieces that were read and not written yet: their place in the buffer and in the value. */
  private @Nullable MemorySegment piece;

  private int stagedFrom;
  private int stagedBytes;
  private int stagedPosition;
  private @Nullable MemorySegment chunk;

  /** Address of the key's newest record, if that is an anchor. */
  private long anchorAddress;

  private @Nullable LargeAnchor anchor;

  /** Whether the key's newest record is a delta. */
  private boolean isUnderDeltas;

  /** Bytes of a live value that were not copied. */
  private long droppedBytes;

  /** The value's first bytes. */
  private @Nullable MemorySegment start;

  private int startBytes;

  /** Whether that record could no longer be deleted in place when it was found. */
  private boolean isImmutable;

  /**
   * @param rule decides which live values are kept; null keeps all. The caller closes it
   */
  public LargeMover(Engine engine, @Nullable KeepQuestion rule) {
    this.engine = engine;
    this.rule = rule;
    log = engine.log();
    search = new NewestSearch(engine);
    op = search.op();
    user = search.user();
    fresh = new NewRecord(engine);
    latch = new RecordLatch(engine.layout());
    wait = new EpochWait(engine.epochs(), () -> "room to move a large value to");
    reader = new LargeReader(log, user);
    writer = new ChunkWriter(log, op.key);
  }

  /**
   * Moves the value whose first chunk is at {@code chunkAddress} if it is live. Returns its length,
   * or 0, or {@link #UNDER_DELTAS}.
   */
  public long moveIfLive(long chunkAddress, ByteSpan key) {
    search.setKey(key);
    droppedBytes = 0;
    fresh.beginOne();
    wait.end();
    if (!leadsTo(chunkAddress)) {
      return notMoved();
    }
    LargeAnchor from = anchor;
    long base = anchorAddress;
    long begin = log.pins().pinBriefly();
    long unpublished = log.largeWrites().beginUnpublished();
    try {
      if (from == null || begin > chunkAddress) {
        return 0;
      }
      if (rule != null && !rule.keeps(key, start(from))) {
        droppedBytes = from.bytes();
        return 0;
      }
      copy(from);
      log.largeWrites().wroteChunks(writer.anchor().oldest(), op.key.length(), from.bytes());
      return publish(base, chunkAddress) ? from.bytes() : notMoved();
    } finally {
      log.largeWrites().endUnpublished(unpublished);
      log.pins().unpinBrief(begin);
    }
  }

  /** Length of the last value if it is live and not kept; otherwise 0. */
  public long droppedBytes() {
    return droppedBytes;
  }

  private long notMoved() {
    return isUnderDeltas ? UNDER_DELTAS : 0;
  }

  @Override
  public void close() {
    search.close();
    if (piece != null) {
      engine.buffers().give(piece);
    }
    if (chunk != null) {
      engine.buffers().give(chunk);
    }
  }

  /** The first bytes of a value; this may read all of it. */
  private ByteSpan start(LargeAnchor from) {
    MemorySegment first = takeStart();
    int bytes = (int) Math.min(from.bytes(), KeepRule.LARGE_VALUE_BYTES);
    ChunkCursor cursor = reader.cursor();
    cursor.begin(from, op.key.memory(), 0, op.key.length());
    LargeReader.Sink sink =
        (memory, found) -> {
          int count = Math.min(bytes - found.position(), found.pieceBytes());
          if (count > 0) {
            MemorySegment.copy(memory, found.pieceOffset(), first, found.position(), count);
            startBytes += count;
          }
        };
    startBytes = 0;
    while (!cursor.isAtEnd() && startBytes < bytes) {
      if (!reader.takeOneFromMemory(sink)) {
        reader.takeFromDisk(takeChunk(), sink);
      }
    }
    return new ByteSpan().wrap(first, 0, bytes, bytes);
  }

  private void copy(LargeAnchor from) {
    MemorySegment staged = takePiece();
    ChunkCursor cursor = reader.cursor();
    cursor.begin(from, op.key.memory(), 0, op.key.length());
    writer.begin();
    stagedBytes = 0;
    LargeReader.Sink sink = (memory, found) -> stage(staged, memory, found);
    while (!cursor.isAtEnd()) {
      if (!reader.takeOneFromMemory(sink)) {
        reader.takeFromDisk(takeChunk(), sink);
      }
      // With more than a page, a chunk fills its page to the end, however small the pieces were.
      long keep = cursor.isAtEnd() ? 0 : staged.byteSize() - log.pageBytes();
      while (stagedBytes > keep) {
        write(staged, cursor.isAscending());
      }
    }
  }

  /** Adds a piece after or before the staged ones. */
  private void stage(MemorySegment staged, MemorySegment memory, ChunkCursor found) {
    int bytes = found.pieceBytes();
    int end = (int) staged.byteSize();
    int kept = found.isAscending() ? 0 : end - stagedBytes;
    MemorySegment.copy(staged, stagedFrom, staged, kept, stagedBytes);
    int target = found.isAscending() ? stagedBytes : kept - bytes;
    MemorySegment.copy(memory, found.pieceOffset(), staged, target, bytes);
    stagedFrom = found.isAscending() ? 0 : target;
    if (stagedBytes == 0 || !found.isAscending()) {
      stagedPosition = found.position();
    }
    stagedBytes += bytes;
  }

  /** Writes a chunk of the staged bytes, from the first byte on or from the last one back. */
  private void write(MemorySegment staged, boolean isAscending) {
    int count;
    user.protect();
    try {
      count =
          isAscending
              ? writer.writeFirst(staged, stagedFrom, stagedBytes, stagedPosition)
              : writer.writeLast(staged, stagedFrom, stagedBytes, stagedPosition);
      if (count == 0) {
        log.assist();
      }
    } finally {
      user.unprotect();
    }
    if (count == 0) {
      wait.pause();
      return;
    }
    wait.end();
    stagedBytes -= count;
    if (isAscending) {
      stagedFrom += count;
      stagedPosition += count;
    }
  }

  /** Puts the copy's anchor on the chain if the newest record is still at {@code base}. */
  private boolean publish(long base, long chunkAddress) {
    wait.end();
    while (leadsTo(chunkAddress) && anchorAddress == base) {
      if (tryPublish(base)) {
        return true;
      }
      log.assist();
      wait.pause();
    }
    return false;
  }

  private boolean tryPublish(long base) {
    user.protect();
    try {
      // The chain below this entry was searched; anything added on top makes the swap fail.
      long searchedFrom = op.searchedFrom;
      boolean isSame =
          engine.versions().enterMove(op.version)
              && engine.index().enter(op.hash, op.entry)
              && engine.index().find(op.hash, op.entry)
              && op.entry.address() == searchedFrom;
      if (!isSame) {
        return false;
      }
      if (isImmutable) {
        return put();
      }
      return base >= log.regions().inPlaceFrom() && putHeld(log.offset(base));
    } finally {
      user.unprotect();
    }
  }

  /**
   * Holds the record meanwhile, since a delete in place would mark an anchor that is no longer the
   * newest.
   */
  private boolean putHeld(long record) {
    MemorySegment memory = log.memory();
    if (!latch.tryHold(op, memory, record)) {
      return false;
    }
    boolean isReplaced = false;
    try {
      if (put()) {
        op.heldBits = RecordInfo.SEALED;
      }
    } finally {
      isReplaced = latch.release(op, memory);
    }
    return isReplaced;
  }

  private boolean put() {
    LargeAnchor copy = writer.anchor();
    if (copy.oldest() < log.beginAddress() || !fresh.allocate(op, LargeAnchor.VALUE_BYTES)) {
      return false;
    }
    copy.write(fresh.memory(), fresh.offset());
    return fresh.publish(op, RecordInfo.LARGE);
  }

  /** Whether the newest record of the key is an anchor that leads to the chunk. */
  private boolean leadsTo(long chunkAddress) {
    search.aim(chunkAddress + 1);
    while (true) {
      anchor = null;
      Found found = findInMemory();
      if (found == Found.ON_DISK) {
        found = search.onDisk();
        if (found == Found.RECORD) {
          isImmutable = true;
          take(op.disk.address, op.diskRecord(), 0);
        }
      }
      if (found != Found.AGAIN) {
        isUnderDeltas = found == Found.DELTA;
        return anchor != null && anchor.oldest() == chunkAddress;
      }
      wait.pause();
    }
  }

  private Found findInMemory() {
    user.protect();
    try {
      // Read before the record: a record that was immutable by then has its final flags.
      long immutableBelow = log.regions().immutableBelow();
      Found found = search.inMemory();
      if (found == Found.RECORD) {
        long address = search.walk().address();
        isImmutable = address < immutableBelow;
        take(address, log.memory(), log.offset(address));
      }
      return found;
    } finally {
      user.unprotect();
    }
  }

  private void take(long address, MemorySegment memory, long record) {
    anchorAddress = address;
    if (RecordInfo.isLarge(RecordLayout.info(memory, record))) {
      anchor = LargeAnchor.read(memory, record);
      if (anchor == null) {
        throw new Corrupt(
            "the anchor of a large value is not what was written: "
                + log.device().place(anchorAddress));
      }
    }
  }

  private MemorySegment takeStart() {
    if (start == null) {
      start = MemorySegment.ofArray(new byte[KeepRule.LARGE_VALUE_BYTES]);
    }
    return start;
  }

  private MemorySegment takePiece() {
    if (piece == null) {
      long bytes = log.largeWrites().stagedPages() * log.pageBytes();
      piece = engine.buffers().take(Math.toIntExact(bytes));
    }
    return piece;
  }

  private MemorySegment takeChunk() {
    if (chunk == null) {
      chunk = engine.buffers().take((int) log.pageBytes());
    }
    return chunk;
  }
}
