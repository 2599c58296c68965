package io.fasterkv.flink.records.map;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.records.base.RecordEdit;

/**
 * Puts the entries of a batch into an inline map, one after the other, until one does not fit or
 * cannot be stored inline. A repeated call puts the same entries again, which changes nothing.
 */
final class PutAllEdit implements RecordEdit {
  private static final EntryBatch NOTHING = new EntryBatch();

  private final UserKey key = new UserKey();
  private final PutEdit single = new PutEdit(head -> {});
  private EntryBatch batch = NOTHING;
  private int first;
  private int limit;
  private int entryLimit;
  private int done;
  private boolean lacksRoom;

  /** Sets the limits: {@code most} bytes for a head, {@code mostOfEntry} for an entry. */
  PutAllEdit within(int most, int mostOfEntry) {
    limit = most;
    entryLimit = mostOfEntry;
    return this;
  }

  /** Sets the entries to put, starting at {@code from}, which must not be too large. */
  PutAllEdit of(EntryBatch entries, int from) {
    batch = entries;
    first = from;
    done = from;
    return this;
  }

  /** Whether the map has buckets. */
  boolean isInBuckets() {
    return single.outcome() == PutEdit.Outcome.IN_BUCKETS;
  }

  /** Index of the first entry that was not put. */
  int done() {
    return done;
  }

  /** Drops the reference to the entries. */
  void forget() {
    batch = NOTHING;
  }

  private PutEdit single(int entry) {
    key.of(batch.bytes(), batch.keyAt(entry), batch.keyLength(entry));
    return single
        .of(key, batch.bytes(), batch.valueAt(entry), batch.valueLength(entry), null)
        .toHead(limit);
  }

  private void putFrom(ByteSpan block, int from) {
    lacksRoom = false;
    for (done = from; done < batch.count(); done++) {
      if (batch.entryBytes(done) > entryLimit) {
        return;
      }
      PutEdit put = single(done);
      if (!put.inPlace(block)) {
        lacksRoom = true;
        return;
      }
      if (!put.changes()) {
        return;
      }
    }
  }

  private int bytesOfAll() {
    int bytes = 0;
    for (int entry = first; entry < batch.count(); entry++) {
      bytes += batch.entryBytes(entry);
    }
    return bytes;
  }

  @Override
  public int initialBytes() {
    int least = MapLayout.TAG_BYTES + batch.entryBytes(first);
    return Math.max(least, Math.min(limit, MapLayout.TAG_BYTES + bytesOfAll()));
  }

  @Override
  public void initial(ByteSpan block) {
    single(first).initial(block);
    putFrom(block, first + 1);
  }

  @Override
  public boolean inPlace(ByteSpan block) {
    putFrom(block, first);
    return !lacksRoom || done > first;
  }

  /** Room for as many entries as the head may have, as if none of them replaced another. */
  @Override
  public int copyBytes(ByteSpan oldBlock) {
    PutEdit put = single(first);
    int forFirst = put.copyBytes(oldBlock);
    if (!put.changes()) {
      return forFirst;
    }
    return Math.max(forFirst, Math.min(limit, oldBlock.length() + bytesOfAll()));
  }

  @Override
  public void copy(ByteSpan oldBlock, ByteSpan newBlock) {
    newBlock.setTo(oldBlock);
    putFrom(newBlock, first);
  }
}
