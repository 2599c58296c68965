package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;

/** Removes an entry from the head of a map where it lies, if it is one of several there. */
final class RemoveEdit implements RecordEdit {

  /** What became of a removal. */
  enum Outcome {
    /** The map does not have the user key. */
    MISSING,
    /** The entry is gone. */
    REMOVED,
    /** The entry is the map's only one; it is still there. */
    LAST,
    /**
     * An entry in a run may be the user key's, or the map has buckets; nothing was changed, and the
     * head was taken over.
     */
    ELSEWHERE
  }

  private final EntryCursor cursor = new EntryCursor();
  private final UserKey key;
  private final HeapBlock taken;
  private Outcome outcome = Outcome.MISSING;

  /** Whether the cursor is on the entry in the head that is to be copied: somebody asked before. */
  private boolean isFound;

  /**
   * @param taken takes over the heads of maps whose entries are elsewhere
   */
  RemoveEdit(UserKey key, HeapBlock taken) {
    this.key = key;
    this.taken = taken;
  }

  Outcome outcome() {
    return outcome;
  }

  private Outcome judge(ByteSpan head) {
    byte tag = head.getByte(MapLayout.TAG_AT);
    if (tag == MapLayout.BUCKETS) {
      taken.read(head);
      return Outcome.ELSEWHERE;
    }
    int from = MapLayout.entriesAt(tag);
    if (!cursor.seek(head, from, key)) {
      return Outcome.MISSING;
    }
    if (cursor.inRun()) {
      taken.read(head);
      return Outcome.ELSEWHERE;
    }
    return from + cursor.length() == head.length() ? Outcome.LAST : Outcome.REMOVED;
  }

  private void apply(ByteSpan head) {
    outcome = judge(head);
    if (outcome == Outcome.REMOVED) {
      cursor.remove();
    }
  }

  @Override
  public boolean makesFirst() {
    // An attempt begins; what an earlier one has found may have gone since.
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
  public boolean inPlace(ByteSpan head) {
    apply(head);
    return true;
  }

  @Override
  public boolean makesSuccessor(ByteSpan oldHead) {
    outcome = judge(oldHead);
    isFound = outcome == Outcome.REMOVED;
    return isFound;
  }

  @Override
  public int copyBytes(ByteSpan oldHead) {
    return oldHead.length();
  }

  @Override
  public void copy(ByteSpan oldHead, ByteSpan newHead) {
    newHead.setTo(oldHead);
    if (isFound) {
      isFound = false; // Who copies again without asking has it looked for again.
      cursor.moveTo(newHead);
      cursor.remove();
    } else {
      apply(newHead);
    }
  }
}
