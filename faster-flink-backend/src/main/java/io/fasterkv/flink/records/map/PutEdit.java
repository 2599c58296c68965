package io.fasterkv.flink.records.map;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.records.base.PartLayout;
import io.fasterkv.flink.records.base.RecordEdit;
import io.fasterkv.flink.records.base.RecordReader;
import org.jspecify.annotations.Nullable;

/**
 * Puts an entry into an inline map or a bucket. Expired entries make room: they are removed when
 * the block is copied or would become too long.
 */
final class PutEdit implements RecordEdit {

  /** The result of a put. */
  enum Outcome {
    /** The user key is new and its entry was inserted. */
    INSERTED,
    /** The entry replaced the user key's old one. */
    REPLACED,
    /** The block would become too long and was not changed. */
    FULL,
    /** The user key may have an entry in a run; no live entry was changed. */
    IN_RUN,
    /** The map has buckets; its head was copied and not changed. */
    IN_BUCKETS
  }

  private static final int LEAST_ROOM = 16;

  private final RecordReader taken;
  private final EntryCursor cursor = new EntryCursor();
  private final ExpiredEntries expired = new ExpiredEntries();
  private UserKey key = new UserKey();
  private byte[] value = new byte[0];
  private int offset;
  private int length;
  private boolean isHead;
  private long incarnation;
  private int limit;
  private Outcome outcome = Outcome.INSERTED;
  private boolean isFirst;
  private int grownBy;
  private int blockLength;

  /**
   * @param taken receives the heads of maps with buckets
   */
  PutEdit(RecordReader taken) {
    this.taken = taken;
  }

  /** Sets the entry to put, and which entries of the state expire, if any. */
  PutEdit of(UserKey userKey, byte[] bytes, int from, int count, @Nullable EntryLife life) {
    expired.begin(life);
    key = userKey;
    value = bytes;
    offset = from;
    length = count;
    return this;
  }

  /** Selects a head record as the target, which may grow to {@code most} bytes. */
  PutEdit toHead(int most) {
    isHead = true;
    limit = most;
    return this;
  }

  /** Selects a bucket of the map with this incarnation, which may grow to {@code most} bytes. */
  PutEdit toBucket(long mapIncarnation, int most) {
    isHead = false;
    incarnation = mapIncarnation;
    limit = most;
    return this;
  }

  Outcome outcome() {
    return outcome;
  }

  /** Whether the map had no such block before. */
  boolean isFirst() {
    return isFirst;
  }

  /** Whether the entry takes more bytes of the block than before. */
  boolean grows() {
    return grownBy > 0;
  }

  /** Length of the block after the put. */
  int length() {
    return blockLength;
  }

  private int entryBytes() {
    return EntryCursor.entryBytes(key.length(), length);
  }

  private int firstEntryAt(ByteSpan block) {
    return isHead
        ? MapLayout.entriesAt(block.getByte(MapLayout.TAG_AT))
        : MapLayout.BUCKET_HEAD_BYTES;
  }

  @Override
  public int initialBytes() {
    return (isHead ? MapLayout.TAG_BYTES : MapLayout.BUCKET_HEAD_BYTES) + entryBytes();
  }

  @Override
  public void initial(ByteSpan block) {
    if (isHead) {
      block.setLength(MapLayout.TAG_BYTES);
      block.putByte(MapLayout.TAG_AT, MapLayout.INLINE);
    } else {
      block.setLength(MapLayout.BUCKET_HEAD_BYTES);
      PartLayout.putIntoPart(block, incarnation);
      Lanes.makeEmpty(block);
    }
    append(block);
    outcome = Outcome.INSERTED;
    isFirst = true;
    grownBy = entryBytes();
    blockLength = block.length();
  }

  /** Whether the bucket belongs to another map. */
  private boolean isOthers(ByteSpan block) {
    return !isHead && PartLayout.ofPart(block) != incarnation;
  }

  /** Finds the position of the entry and decides; changes nothing. */
  private void judge(ByteSpan block) {
    isFirst = false;
    grownBy = 0;
    if (isHead && block.getByte(MapLayout.TAG_AT) == MapLayout.BUCKETS) {
      outcome = Outcome.IN_BUCKETS;
      taken.read(block);
      return;
    }
    boolean found = cursor.seek(block, firstEntryAt(block), key);
    if (found && cursor.inRun()) {
      outcome = Outcome.IN_RUN;
      return;
    }
    int change = entryBytes() - (found ? cursor.length() : 0);
    if (change > 0 && block.length() + change > limit) {
      outcome = Outcome.FULL;
      return;
    }
    outcome = found ? Outcome.REPLACED : Outcome.INSERTED;
    grownBy = change;
    blockLength = block.length() + change;
  }

  /** Whether the put changes the block. */
  boolean changes() {
    return outcome == Outcome.INSERTED || outcome == Outcome.REPLACED;
  }

  @Override
  public boolean inPlace(ByteSpan block) {
    if (isOthers(block)) {
      boolean fits = initialBytes() <= block.capacity();
      if (fits) {
        initial(block);
      }
      return fits;
    }
    judge(block);
    if (lacksRoom(block) && mayShorten(block, Math.min(limit, block.capacity()))) {
      expired.removeFrom(block, firstEntryAt(block));
      judge(block);
    }
    if (!changes()) {
      return true;
    }
    if (lacksRoom(block)) {
      return false;
    }
    apply(block);
    return true;
  }

  private boolean lacksRoom(ByteSpan block) {
    return outcome == Outcome.FULL || (changes() && block.length() + grownBy > block.capacity());
  }

  /** Whether the entry and the entries that have not expired fit into {@code most} bytes. */
  private boolean mayShorten(ByteSpan block, int most) {
    if (outcome != Outcome.FULL && !changes()) {
      return false;
    }
    int expiredBytes = expired.bytesIn(block, firstEntryAt(block));
    return expiredBytes > 0 && block.length() - expiredBytes + entryBytes() <= most;
  }

  private void apply(ByteSpan block) {
    if (outcome == Outcome.REPLACED) {
      if (cursor.valueLength() == length) {
        block.copyFrom(cursor.valueAt(), value, offset, length);
        return;
      }
      cursor.remove();
    }
    append(block);
  }

  private void append(ByteSpan block) {
    int lane = isHead ? Lanes.NONE : Lanes.of(key.hash());
    EntryCursor.append(block, lane, key, value, offset, length);
  }

  @Override
  public int copyBytes(ByteSpan oldBlock) {
    if (isOthers(oldBlock)) {
      return initialBytes();
    }
    judge(oldBlock);
    int grown = oldBlock.length() + (changes() ? grownBy : 0);
    if (mayShorten(oldBlock, limit)) {
      int expiredBytes = expired.bytesIn(oldBlock, firstEntryAt(oldBlock));
      grown = oldBlock.length() - expiredBytes + entryBytes();
    } else if (grown <= oldBlock.length()) {
      return oldBlock.length();
    }
    return Math.max(grown, Math.min(limit, grown + Math.max(grown / 2, LEAST_ROOM)));
  }

  @Override
  public void copy(ByteSpan oldBlock, ByteSpan newBlock) {
    if (isOthers(oldBlock)) {
      initial(newBlock);
      return;
    }
    judge(oldBlock);
    if (mayShorten(oldBlock, limit)) {
      expired.copyOthers(oldBlock, firstEntryAt(oldBlock), newBlock);
      judge(newBlock);
    } else {
      newBlock.setTo(oldBlock);
      cursor.moveTo(newBlock);
    }
    if (changes()) {
      apply(newBlock);
    }
  }
}
