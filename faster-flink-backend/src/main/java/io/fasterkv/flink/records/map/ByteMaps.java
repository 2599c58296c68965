package io.fasterkv.flink.records.map;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.base.HeapBlock;
import io.fasterkv.flink.records.base.PartLayout;
import io.fasterkv.flink.records.base.Records;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Stores maps of serialized entries, in the shape that {@link MapLayout} draws. The cost of get,
 * put, contains and isEmpty does not depend on the map's size. User keys are equal if their bytes
 * are equal. For one thread at a time.
 */
public final class ByteMaps {
  private final Records records;
  private final MapRuns runs;
  private final MapBuckets buckets;
  private final UserKey userKey = new UserKey();
  private final PutAllEdit editAll = new PutAllEdit();
  private final MapPlace place;
  private final KeptHead kept;
  private final MapHead head;
  private final MapLookup lookup;
  private final PutEdit edit;
  private final RemoveEdit removal;
  private final Bytes run = new Bytes();

  /** The scratch head of all cursors. */
  private final MapHead found = new MapHead();

  private final ExpiredEntries expired = new ExpiredEntries();
  private final IntFunction<@Nullable EntryLife> lives;

  /**
   * @param lives life of entries by state number; null for a state whose entries do not expire
   */
  public ByteMaps(Records records, IntFunction<@Nullable EntryLife> lives) {
    this.records = records;
    this.lives = lives;
    this.runs = new MapRuns(records);
    this.buckets = new MapBuckets(records, runs);
    this.place = new MapPlace(records, runs, userKey);
    this.kept = place.kept();
    this.head = kept.head();
    this.lookup = new MapLookup(userKey, kept);
    this.edit = new PutEdit(kept);
    this.removal = new RemoveEdit(userKey, kept);
  }

  /**
   * Looks up a user key.
   *
   * @param into receives the value
   * @return false if the map does not have the key
   */
  public boolean get(CompositeKey key, byte[] bytes, int offset, int length, Bytes into) {
    return switch (lookUp(key, bytes, offset, length, into)) {
      case FOUND -> true;
      case MISSING, IN_BUCKETS -> false;
      case IN_RUN -> getFromRun(key, into);
    };
  }

  /**
   * Whether the map has a user key. Reads the value of an entry in a run only if parts of it may
   * have expired.
   *
   * @param scratch may be overwritten
   */
  public boolean contains(CompositeKey key, byte[] bytes, int offset, int length, Bytes scratch) {
    return switch (lookUp(key, bytes, offset, length, null)) {
      case FOUND -> true;
      case MISSING, IN_BUCKETS -> false;
      case IN_RUN ->
          records.incarnations().isTimed(key.state()) ? getFromRun(key, scratch) : find(key);
    };
  }

  private boolean find(CompositeKey key) {
    place.load(key);
    return place.find(key);
  }

  private MapLookup.Result lookUp(
      CompositeKey key, byte[] bytes, int offset, int length, @Nullable Bytes into) {
    userKey.of(bytes, offset, length);
    if (!kept.isOf(key)) {
      records.read(key.head(), lookup.in(true, into));
      if (lookup.result() != MapLookup.Result.IN_BUCKETS) {
        return lookup.result();
      }
      kept.keep(key);
    }
    records.readPart(key.record(place.bucketPart()), head.incarnation(), lookup.in(false, into));
    return lookup.result();
  }

  /**
   * Reads the value from a run. The run that the lookup found has the same hash but may belong to
   * another user key; the wanted entry then comes later in the block.
   */
  private boolean getFromRun(CompositeKey key, Bytes into) {
    if (!find(key)) {
      return false;
    }
    EntryCursor cursor = place.cursor();
    if (!cursor.inRun()) {
      into.clear();
      into.append(place.block().bytes().array(), cursor.valueAt(), cursor.valueLength());
      return true;
    }
    if (!runs.read(key, head.incarnation(), cursor.run(), run)) {
      return false;
    }
    int valueAt = MapLayout.RUN_HEAD_BYTES + userKey.length();
    into.clear();
    into.append(run.array(), valueAt, run.length() - valueAt);
    run.clear();
    return true;
  }

  /**
   * Whether the map has no entry. In a state whose entries can expire, this checks whether a bucket
   * is left.
   */
  public boolean isEmpty(CompositeKey key) {
    if (!records.incarnations().isTimed(key.state())) {
      return !kept.isOf(key) && !records.has(key.head());
    }
    return !place.load(key) || (head.hasBuckets() && buckets.areEmpty(key, head));
  }

  /**
   * Sets a user key's value.
   *
   * @param bytes holds the user key, from 0, and the value after it
   */
  public void put(CompositeKey key, byte[] bytes, int keyLength, int valueLength) {
    put(key, bytes, 0, keyLength, valueLength);
  }

  /**
   * Sets the values of several user keys. One write adds all entries that fit into an inline map.
   */
  public void putAll(CompositeKey key, EntryBatch batch) {
    editAll.within(buckets.inlineLimit(), buckets.entryLimit());
    boolean mayBeInline = !kept.isOf(key);
    int next = 0;
    while (next < batch.count()) {
      if (mayBeInline && batch.entryBytes(next) <= buckets.entryLimit()) {
        records.editHead(key, editAll.of(batch, next));
        next = editAll.done();
        mayBeInline = !editAll.isInBuckets();
      }
      // put() handles the entry that did not fit; after it the map may still be inline.
      if (next < batch.count()) {
        put(key, batch.bytes(), batch.keyAt(next), batch.keyLength(next), batch.valueLength(next));
        next++;
      }
    }
    editAll.forget();
  }

  /** Sets a user key's value; the key starts at {@code offset}. */
  public void put(CompositeKey key, byte[] bytes, int offset, int keyLength, int valueLength) {
    userKey.of(bytes, offset, keyLength);
    if (EntryCursor.entryBytes(keyLength, valueLength) > buckets.entryLimit()
        || !putInPlace(key, bytes, valueLength)) {
      putSlowly(key, bytes, valueLength);
    }
  }

  private boolean putInPlace(CompositeKey key, byte[] value, int length) {
    int valueAt = userKey.offset() + userKey.length();
    edit.of(userKey, value, valueAt, length, lives.apply(key.state()));
    if (!kept.isOf(key)) {
      records.editHead(key, edit.toHead(buckets.inlineLimit()));
      if (edit.outcome() != PutEdit.Outcome.IN_BUCKETS) {
        return edit.changes();
      }
      kept.keep(key);
    }
    return putIntoBucket(key);
  }

  private boolean putIntoBucket(CompositeKey key) {
    long incarnation = head.incarnation();
    records.editPart(
        key, place.bucketPart(), incarnation, edit.toBucket(incarnation, buckets.bucketLimit()));
    if (!edit.changes()) {
      return false;
    }
    boolean isCrowded = edit.grows() && buckets.isCrowded(edit.length());
    // Where entries expire, compaction may have decided to drop the head before the bucket changed.
    boolean writesHead = edit.isFirst() || records.incarnations().isTimed(key.state());
    if (writesHead || isCrowded) {
      kept.drop();
      head.addUsed(edit.isFirst() ? 1 : 0);
      boolean isSplit = isCrowded && buckets.split(key, head);
      if (isSplit || writesHead) {
        records.putHead(key, head.block().bytes());
      }
      kept.keep(key);
    }
    return true;
  }

  /** The slow path of a put: works on copies on the heap. */
  private void putSlowly(CompositeKey key, byte[] value, int length) {
    int entryBytes = EntryCursor.entryBytes(userKey.length(), length);
    boolean isRun = entryBytes > buckets.entryLimit();
    place.load(key);
    kept.drop();
    if (isRun && head.incarnation() == PartLayout.NONE) {
      head.makeRuns(records.takeIncarnation());
    }
    boolean existed = place.find(key);
    if (head.incarnation() != PartLayout.NONE) {
      records.incarnations().writing(head.incarnation());
    }
    HeapBlock block = place.block();
    int before = block.bytes().length();
    ByteSpan entries = block.open(isRun ? EntryCursor.STUB_BYTES : entryBytes);
    if (existed) {
      place.remove(key);
    }
    expired.begin(lives.apply(key.state()));
    expired.removeFrom(entries, place.firstEntryAt());
    if (isRun) {
      place.addRun(key, value, length);
    } else {
      place.add(value, length);
    }
    block.close();
    if (head.hasBuckets()) {
      buckets.shorten(key, head, block);
      records.put(key.record(place.bucketPart()), block.bytes(), 0);
      head.addUsed(before == MapLayout.BUCKET_HEAD_BYTES ? 1 : 0);
      int after = block.bytes().length();
      if (after > before && buckets.isCrowded(after)) {
        buckets.split(key, head);
      }
    } else if (block.bytes().length() > buckets.inlineLimit()) {
      buckets.spread(key, head);
    }
    putHead(key);
  }

  /** Removes a user key; returns false if the map does not have it. */
  public boolean remove(CompositeKey key, byte[] bytes, int offset, int length) {
    userKey.of(bytes, offset, length);
    return kept.isOf(key) ? removeFromBucket(key) : removeFromHead(key);
  }

  private boolean removeFromHead(CompositeKey key) {
    records.editHead(key, removal.fromHead());
    return switch (removal.outcome()) {
      case MISSING -> false;
      case REMOVED -> true;
      case LAST -> {
        records.delete(key.head());
        yield true;
      }
      case IN_RUN -> removeSlowly(key);
      case IN_BUCKETS -> {
        kept.keep(key);
        yield removeFromBucket(key);
      }
    };
  }

  private boolean removeFromBucket(CompositeKey key) {
    int bucket = place.bucketPart();
    records.edit(key.record(bucket), removal.fromBucket(head.incarnation()));
    switch (removal.outcome()) {
      case MISSING -> {
        return false;
      }
      case IN_RUN, IN_BUCKETS -> {
        return removeSlowly(key);
      }
      case LAST -> {
        records.delete(key.record(bucket));
        countDeleted(key);
      }
      case REMOVED -> keepHead(key);
    }
    return true;
  }

  /**
   * Called after entries were removed from a bucket that has others. Where entries expire,
   * compaction may have decided to drop the head before the bucket changed.
   */
  private void keepHead(CompositeKey key) {
    if (records.incarnations().isTimed(key.state())) {
      putHead(key);
    }
  }

  /** Writes the head after a bucket was deleted. */
  private void countDeleted(CompositeKey key) {
    kept.drop();
    head.addUsed(-1);
    if (head.used() == 0) {
      records.delete(key.head());
    } else {
      putHead(key);
    }
  }

  /** The slow path of a removal: works on copies on the heap; the head has already been copied. */
  private boolean removeSlowly(CompositeKey key) {
    if (!place.find(key)) {
      return false;
    }
    HeapBlock block = place.block();
    block.open(0);
    place.remove(key);
    block.close();
    if (head.hasBuckets()) {
      if (buckets.putOrDelete(key, place.bucketPart() - MapLayout.FIRST_BUCKET, block) == 0) {
        countDeleted(key);
      } else {
        keepHead(key);
      }
    } else if (block.bytes().length() == head.entriesAt()) {
      records.delete(key.head());
    } else {
      records.putHead(key, block.bytes(), 0);
    }
    return true;
  }

  /** Number of bucket splits, for tests. */
  public long splits() {
    return buckets.splits();
  }

  /** Removes all entries without reading them. */
  public void clear(CompositeKey key) {
    buckets.cleared();
    kept.drop();
    records.delete(key.head());
  }

  /**
   * Iterates over the map's entries, null if it has none. {@link MapCursor} says what it
   * guarantees.
   */
  public @Nullable MapCursor entries(CompositeKey key) {
    return records.read(key.head(), found.block())
        ? new MapCursor(records, buckets, runs, key.copyOfPrefix(), found)
        : null;
  }

  private void putHead(CompositeKey key) {
    records.putHead(key, head.block().bytes());
    kept.keep(key);
  }
}
