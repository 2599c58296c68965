package io.fasterkv.flink.records.map;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.records.base.PartLayout;
import io.fasterkv.flink.records.base.RecordEdit;
import io.fasterkv.flink.records.base.RecordReader;

/**
 * Removes an entry from an inline map or a bucket in place, unless it is the only entry of that
 * block.
 */
final class RemoveEdit implements RecordEdit {

  /** The result of a removal. */
  enum Outcome {
    /** The map does not have the user key. */
    MISSING,
    /** The entry was removed. */
    REMOVED,
    /** The entry is the block's only one and was not removed. */
    LAST,
    /** The entry may be in a run; nothing was changed, and a head was copied. */
    IN_RUN,
    /** The map has buckets; its head was copied and not changed. */
    IN_BUCKETS
  }

  private final EntryCursor cursor = new EntryCursor();
  private final UserKey key;
  private final RecordReader taken;
  private Outcome outcome = Outcome.MISSING;
  private boolean isHead;
  private long incarnation;

  /**
   * Whether the cursor is on the entry in the block to be copied, since makesSuccessor found it.
   */
  private boolean isFound;

  /**
   * @param taken receives the heads of maps whose entries are elsewhere
   */
  RemoveEdit(UserKey key, RecordReader taken) {
    this.key = key;
    this.taken = taken;
  }

  /** Selects a head record as the target. */
  RemoveEdit fromHead() {
    isHead = true;
    return this;
  }

  /** Selects a bucket of the map with this incarnation. */
  RemoveEdit fromBucket(long mapIncarnation) {
    isHead = false;
    incarnation = mapIncarnation;
    return this;
  }

  Outcome outcome() {
    return outcome;
  }

  private Outcome judge(ByteSpan block) {
    return isHead ? judgeHead(block) : judgeBucket(block);
  }

  private Outcome judgeHead(ByteSpan head) {
    byte tag = head.getByte(MapLayout.TAG_AT);
    if (tag == MapLayout.BUCKETS) {
      taken.read(head);
      return Outcome.IN_BUCKETS;
    }
    Outcome found = find(head, MapLayout.entriesAt(tag));
    if (found == Outcome.IN_RUN) {
      taken.read(head);
    }
    return found;
  }

  private Outcome judgeBucket(ByteSpan bucket) {
    return PartLayout.ofPart(bucket) == incarnation
        ? find(bucket, MapLayout.BUCKET_HEAD_BYTES)
        : Outcome.MISSING;
  }

  private Outcome find(ByteSpan block, int from) {
    if (!cursor.seek(block, from, key)) {
      return Outcome.MISSING;
    }
    if (cursor.inRun()) {
      return Outcome.IN_RUN;
    }
    return from + cursor.length() == block.length() ? Outcome.LAST : Outcome.REMOVED;
  }

  private void apply(ByteSpan block) {
    outcome = judge(block);
    if (outcome == Outcome.REMOVED) {
      cursor.remove();
    }
  }

  @Override
  public boolean makesFirst() {
    // A new attempt begins: the entry found by an earlier one may have been removed since.
    outcome = Outcome.MISSING;
    isFound = false;
    return false;
  }

  @Override
  public int initialBytes() {
    throw new AssertionError("there is nothing to be removed");
  }

  @Override
  public void initial(ByteSpan value) {
    throw new AssertionError("there is nothing to be removed");
  }

  @Override
  public boolean inPlace(ByteSpan block) {
    apply(block);
    return true;
  }

  @Override
  public boolean makesSuccessor(ByteSpan oldBlock) {
    outcome = judge(oldBlock);
    isFound = outcome == Outcome.REMOVED;
    return isFound;
  }

  @Override
  public int copyBytes(ByteSpan oldBlock) {
    return oldBlock.length();
  }

  @Override
  public void copy(ByteSpan oldBlock, ByteSpan newBlock) {
    newBlock.setTo(oldBlock);
    if (isFound) {
      isFound = false; // A second copy without makesSuccessor must search again.
      cursor.moveTo(newBlock);
      cursor.remove();
    } else {
      apply(newBlock);
    }
  }
}
