package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;

/** Puts an entry into an inline map or into a bucket. */
final class PutEdit implements RecordEdit {

  /** What became of a put. */
  enum Outcome {
    /** The user key is new and the entry is in the block. */
    INSERTED,
    /** The entry took the place of the user key's old one. */
    REPLACED,
    /** The block would get too long and was not changed. */
    FULL,
    /** An entry in a run may be the user key's; nothing was changed. */
    IN_RUN,
    /** The map has buckets; its head was not changed. */
    IN_BUCKETS
  }

  private static final int LEAST_ROOM = 16;

  private final EntryCursor cursor = new EntryCursor();
  private UserKey key = new UserKey();
  private byte[] value = new byte[0];
  private int offset;
  private int length;
  private boolean head;
  private int limit;
  private Outcome outcome = Outcome.INSERTED;
  private int grownBy;
  private int blockLength;
  private int buckets;

  /** What to put. */
  PutEdit of(UserKey userKey, byte[] bytes, int from, int count) {
    key = userKey;
    value = bytes;
    offset = from;
    length = count;
    return this;
  }

  /** Where: a head record or a bucket, which may grow to {@code most} bytes. */
  PutEdit to(boolean toHead, int most) {
    head = toHead;
    limit = most;
    return this;
  }

  Outcome outcome() {
    return outcome;
  }

  /** By how many bytes the block's entries have grown; may be negative. */
  int grownBy() {
    return grownBy;
  }

  /** Length of the block after the put. */
  int length() {
    return blockLength;
  }

  /** Meaningful after {@link Outcome#IN_BUCKETS}. */
  int buckets() {
    return buckets;
  }

  private int entryBytes() {
    return EntryCursor.entryBytes(key.length(), length);
  }

  private int firstEntryAt() {
    return head ? MapLayout.INLINE_HEAD_BYTES : 0;
  }

  @Override
  public int initialBytes() {
    return firstEntryAt() + entryBytes();
  }

  @Override
  public void initial(ByteSpan block) {
    block.setLength(firstEntryAt());
    if (head) {
      block.putByte(MapLayout.TAG_AT, MapLayout.INLINE);
      block.putInt(MapLayout.NEXT_RUN_AT, MapLayout.FIRST_RUN);
    }
    EntryCursor.append(block, key, value, offset, length);
    outcome = Outcome.INSERTED;
    grownBy = entryBytes();
    blockLength = block.length();
  }

  /** Finds the entry's place and decides; changes nothing. */
  private void judge(ByteSpan block) {
    grownBy = 0;
    if (head && block.getByte(MapLayout.TAG_AT) == MapLayout.BUCKETS) {
      outcome = Outcome.IN_BUCKETS;
      buckets = block.getInt(MapLayout.BUCKETS_AT);
      return;
    }
    boolean found = cursor.on(block, firstEntryAt()).seek(key);
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

  /** Whether the entry is in the block. */
  boolean changes() {
    return outcome == Outcome.INSERTED || outcome == Outcome.REPLACED;
  }

  @Override
  public boolean inPlace(ByteSpan block) {
    judge(block);
    if (!changes()) {
      return true;
    }
    if (block.length() + grownBy > block.capacity()) {
      return false;
    }
    apply(block);
    return true;
  }

  private void apply(ByteSpan block) {
    if (outcome == Outcome.REPLACED) {
      if (cursor.valueLength() == length) {
        block.copyFrom(cursor.valueAt(), value, offset, length);
        return;
      }
      cursor.remove();
    }
    EntryCursor.append(block, key, value, offset, length);
  }

  @Override
  public int copyBytes(ByteSpan oldBlock) {
    judge(oldBlock);
    int grown = oldBlock.length() + (changes() ? grownBy : 0);
    if (grown <= oldBlock.length()) {
      return oldBlock.length();
    }
    return Math.max(grown, Math.min(limit, grown + Math.max(grown / 2, LEAST_ROOM)));
  }

  @Override
  public void copy(ByteSpan oldBlock, ByteSpan newBlock) {
    newBlock.setTo(oldBlock);
    judge(newBlock);
    if (changes()) {
      apply(newBlock);
    }
  }
}
