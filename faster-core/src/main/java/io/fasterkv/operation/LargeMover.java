package io.fasterkv.operation;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.KeepRule;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.EpochWait;
import io.fasterkv.log.ChunkCursor;
import io.fasterkv.log.ChunkWriter;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.LargeReader;
import io.fasterkv.operation.Operation.Phase;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import io.fasterkv.record.SpanRecord;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Writes large values whose chunks lie at the head of the log anew at its tail, if they are live.
 *
 * <p>The first chunk stands for its value: no other chunk of the value lies below it. So compaction
 * looks at first chunks only; when it comes to the other chunks and to the anchor, these are dead,
 * or live further up. A value is live if the newest record of its key is an anchor that leads to
 * that first chunk. It is then copied a chunk at a time, through scratch memory, in the order in
 * which its chunks are found, and an anchor of the copy is put on top of the chain, if the old
 * anchor is still the newest record. Without a device, whatever pieces the chunks are in, the copy
 * has one on each page, so that room for it can be reserved. One thread at a time.
 */
public final class LargeMover implements AutoCloseable {
  /** The value may be live: its key's newest record is a delta. */
  public static final long UNDER_DELTAS = -1;

  private final Engine engine;
  private final HybridLog log;
  private final Operation<Void, Void, Void> op;
  private final ChainSteps.Stripe steps;
  private final ChainWalk walk;
  private final DiskSearch disk;
  private final NewRecord fresh;
  private final EpochUser user;
  private final EpochWait wait;
  private final LargeReader reader;
  private final ChunkWriter writer;
  private final @Nullable KeepQuestion rule;

  /** Pieces that were read and not written yet: where they lie in the buffer and in the value. */
  private @Nullable MemorySegment piece;

  private int stagedFrom;
  private int stagedBytes;
  private int stagedPosition;
  private @Nullable MemorySegment chunk;

  /** The newest record of the key, when it is an anchor. */
  private long anchorAddress;

  private @Nullable LargeAnchor anchor;

  /** Whether the newest record of the key is a delta. */
  private boolean isUnderDeltas;

  /** How many bytes of a live value were left behind. */
  private long letGoBytes;

  /** Its first bytes. */
  private @Nullable MemorySegment start;

  private int startBytes;

  /** Whether nobody could delete that record in place any more when it was found. */
  private boolean isImmutable;

  /**
   * @param rule asked about what is live; null if all of that moves. Closed by the caller
   */
  public LargeMover(Engine engine, @Nullable KeepQuestion rule) {
    this.engine = engine;
    this.rule = rule;
    log = engine.log();
    user = engine.epochs().register();
    op = Operation.beside(user, engine);
    steps = engine.chainSteps().open();
    walk = new ChainWalk(engine, steps);
    disk = new DiskSearch(engine, steps);
    fresh = new NewRecord(engine);
    wait = new EpochWait(engine.epochs(), () -> "room to move a large value to");
    reader = new LargeReader(log, user);
    writer = new ChunkWriter(log, op.key);
  }

  /**
   * Moves the value whose first chunk lies at {@code chunkAddress}, if it is live. Returns how many
   * bytes it has, or 0, or {@link #UNDER_DELTAS}.
   */
  public long moveIfLive(long chunkAddress, ByteSpan key) {
    op.setKey(key);
    op.hash = engine.hash(op.key);
    letGoBytes = 0;
    fresh.beginOne();
    wait.end();
    if (!leadsTo(chunkAddress)) {
      return notMoved();
    }
    LargeAnchor from = anchor;
    long base = anchorAddress;
    long begin = log.holds().pinBriefly();
    long unpublished = log.largeWrites().beginUnpublished();
    try {
      if (from == null || begin > chunkAddress) {
        return 0;
      }
      if (rule != null && !rule.keeps(key, start(from))) {
        letGoBytes = from.bytes();
        return 0;
      }
      copy(from);
      log.largeWrites().wroteChunks(writer.anchor().oldest(), op.key.length(), from.bytes());
      return publish(base, chunkAddress) ? from.bytes() : notMoved();
    } finally {
      log.largeWrites().endUnpublished(unpublished);
      log.holds().unpinBrief(begin);
    }
  }

  /** How many bytes the value looked at last has, if it is live and need not be kept; or 0. */
  public long letGoBytes() {
    return letGoBytes;
  }

  private long notMoved() {
    return isUnderDeltas ? UNDER_DELTAS : 0;
  }

  @Override
  public void close() {
    user.close();
    engine.chainSteps().close(steps);
    op.close();
    if (piece != null) {
      engine.buffers().give(piece);
    }
    if (chunk != null) {
      engine.buffers().give(chunk);
    }
  }

  /** The first bytes of a value, which may take a read of all of it. */
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
      // More than a page makes a chunk up to the page's end, however small the pieces were.
      long keep = cursor.isAtEnd() ? 0 : staged.byteSize() - log.pageBytes();
      while (stagedBytes > keep) {
        write(staged, cursor.isAscending());
      }
    }
  }

  /** Adds a piece to those that are staged, after or before them. */
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

  /** Writes a chunk of what is staged, from its first byte or from its last. */
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

  /** Puts the copy's anchor on the chain, as long as the newest record is still at {@code base}. */
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
      // The chain below this entry was searched; whatever comes on top makes the swap fail.
      long searchedFrom = op.searchedFrom;
      boolean isSame =
          engine.versions().enterMove(op)
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

  /** Keeps a delete in place away meanwhile: it would mark an anchor that is not the newest. */
  private boolean putHeld(long record) {
    MemorySegment memory = log.memory();
    long state = SpanRecord.latch(memory, record);
    boolean isPut = false;
    try {
      isPut = !RecordInfo.isFrozen(RecordLayout.info(memory, record)) && put();
      return isPut;
    } finally {
      if (isPut) {
        SpanRecord.seal(memory, record);
      }
      SpanRecord.unlatchUnchanged(memory, record, state);
    }
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
    op.diskFloor = chunkAddress + 1;
    isUnderDeltas = false;
    while (true) {
      op.phase = Phase.SEARCH;
      if (!lookInMemory(chunkAddress)) {
        disk.searchNow(op);
        if (op.phase == Phase.FOUND_ON_DISK) {
          anchorAddress = op.diskAddress;
          isImmutable = true;
          isUnderDeltas = op.fold.isOpen();
          if (!isUnderDeltas) {
            take(op.diskRecord(), 0);
          }
        }
      }
      // Otherwise the index is being resized, or the log's begin has passed what was read.
      if (op.phase != Phase.SEARCH) {
        return op.phase == Phase.FOUND_ON_DISK && anchor != null && anchor.oldest() == chunkAddress;
      }
      wait.pause();
    }
  }

  /** Looks for the newest record of the key; false when the search goes on on disk. */
  private boolean lookInMemory(long chunkAddress) {
    user.protect();
    try {
      anchor = null;
      long begin = log.beginAddress();
      if (!engine.index().enter(op.hash, op.entry)) {
        return true;
      }
      op.phase = Phase.ABSENT_ON_DISK;
      if (!engine.index().find(op.hash, op.entry)) {
        return true;
      }
      op.searchedFrom = op.entry.address();
      // Read before the record is: what was immutable by then had its last flags.
      long immutableBelow = log.regions().immutableBelow();
      long downTo = Math.max(log.headAddress(), chunkAddress + 1);
      if (walk.find(op.key, op.hash, op.searchedFrom, downTo)) {
        op.phase = Phase.FOUND_ON_DISK;
        anchorAddress = walk.address();
        isImmutable = anchorAddress < immutableBelow;
        isUnderDeltas = walk.isDelta() && !walk.isTombstone();
        if (!isUnderDeltas && !walk.isTombstone()) {
          take(log.memory(), log.offset(anchorAddress));
        }
        return true;
      }
      if (walk.address() <= chunkAddress) {
        return true;
      }
      op.phase = Phase.SEARCH;
      op.readDisk(walk.address(), begin);
      return false;
    } finally {
      user.unprotect();
    }
  }

  private void take(MemorySegment memory, long record) {
    anchor = null;
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
      long pages = log.isInMemory() ? 2 : 1;
      piece = engine.buffers().take(Math.toIntExact(pages * log.pageBytes()));
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
