package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.CompositeKey;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Maps of serialized entries, shaped as {@link MapLayout} draws them. Get, put, contains and the
 * test for emptiness cost the same whatever the map's size. User keys are equal if their bytes are.
 * For one thread at a time.
 */
public final class ByteMaps {
  private final Records records;
  private final MapRuns runs;
  private final MapBuckets buckets;
  private final UserKey userKey = new UserKey();
  private final MapLookup lookup = new MapLookup(userKey);
  private final PutEdit edit = new PutEdit();
  private final PutAllEdit editAll = new PutAllEdit();
  private final MapPlace place;
  private final MapHead head;
  private final RemoveEdit removal;
  private final Bytes run = new Bytes();
  private final ExpiredEntries expired = new ExpiredEntries();
  private final IntFunction<@Nullable EntryLife> lives;

  /**
   * @param lives by the number of a state; null for one whose entries do not expire
   */
  public ByteMaps(Records records, IntFunction<@Nullable EntryLife> lives) {
    this.records = records;
    this.lives = lives;
    this.runs = new MapRuns(records);
    this.buckets = new MapBuckets(records, runs);
    this.place = new MapPlace(records, runs, userKey);
    this.head = place.head();
    this.removal = new RemoveEdit(userKey, head.block());
  }

  /**
   * Looks up a user key.
   *
   * @param into takes the value
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
   * Whether the map has a user key. The value of one in a run is read only where parts of it may
   * have expired.
   *
   * @param scratch has anything afterwards
   */
  public boolean contains(CompositeKey key, byte[] bytes, int offset, int length, Bytes scratch) {
    return switch (lookUp(key, bytes, offset, length, scratch)) {
      case FOUND -> true;
      case MISSING, IN_BUCKETS -> false;
      case IN_RUN ->
          records.identities().isTimed(key.state())
              ? getFromRun(key, scratch)
              : place.load(key).find(key);
    };
  }

  private MapLookup.Result lookUp(
      CompositeKey key, byte[] bytes, int offset, int length, Bytes into) {
    userKey.of(bytes, offset, length);
    boolean isThere = records.read(key.head(), lookup.in(true, into));
    if (isThere && lookup.result() == MapLookup.Result.IN_BUCKETS) {
      int number = MapLayout.bucketOf(userKey.hash(), lookup.buckets());
      records.readPart(
          key.record(MapLayout.FIRST_BUCKET + number), lookup.identity(), lookup.in(false, into));
    }
    return lookup.result();
  }

  /** A run has the same hash, and may be another user key's, whose entry then stands behind it. */
  private boolean getFromRun(CompositeKey key, Bytes into) {
    if (!place.load(key).find(key)) {
      return false;
    }
    EntryCursor cursor = place.cursor();
    if (!cursor.inRun()) {
      into.clear();
      into.append(place.block().bytes().array(), cursor.valueAt(), cursor.valueLength());
      return true;
    }
    if (!runs.read(key, head.identity(), cursor.run(), run)) {
      return false;
    }
    int valueAt = MapLayout.RUN_HEAD_BYTES + userKey.length();
    into.clear();
    into.append(run.array(), valueAt, run.length() - valueAt);
    run.clear();
    return true;
  }

  /** Whether the map has no entry; where entries expire unseen, looks for a bucket. */
  public boolean isEmpty(CompositeKey key) {
    return !records.read(key.head(), head.block())
        || (head.hasBuckets()
            && records.identities().isTimed(key.state())
            && buckets.areEmpty(key, head));
  }

  /**
   * Sets a user key's value.
   *
   * @param bytes holds the user key from 0 on and behind it the value
   */
  public void put(CompositeKey key, byte[] bytes, int keyLength, int valueLength) {
    put(key, bytes, 0, keyLength, valueLength);
  }

  /** Sets the values of several user keys; an inline map takes all that fit in one write. */
  public void putAll(CompositeKey key, EntryBatch batch) {
    editAll.within(buckets.inlineLimit(), buckets.entryLimit());
    boolean mayBeInline = true;
    int next = 0;
    while (next < batch.count()) {
      if (mayBeInline && batch.entryBytes(next) <= buckets.entryLimit()) {
        records.edit(key.head(), editAll.of(batch, next));
        next = editAll.done();
        mayBeInline = !editAll.isInBuckets();
      }
      // What stopped it takes another way; behind it the map may be inline still.
      if (next < batch.count()) {
        put(key, batch.bytes(), batch.keyAt(next), batch.keyLength(next), batch.valueLength(next));
        next++;
      }
    }
    editAll.forget();
  }

  /** As the other one, of bytes from {@code offset} on. */
  void put(CompositeKey key, byte[] bytes, int offset, int keyLength, int valueLength) {
    userKey.of(bytes, offset, keyLength);
    if (EntryCursor.entryBytes(keyLength, valueLength) > buckets.entryLimit()
        || !putInPlace(key, bytes, valueLength)) {
      putSlowly(key, bytes, valueLength);
    }
  }

  private boolean putInPlace(CompositeKey key, byte[] value, int length) {
    int valueAt = userKey.offset() + userKey.length();
    edit.of(userKey, value, valueAt, length, lives.apply(key.state()));
    records.edit(key.head(), edit.toHead(buckets.inlineLimit()));
    return switch (edit.outcome()) {
      case INSERTED, REPLACED -> true;
      case FULL, IN_RUN -> false;
      case IN_BUCKETS -> putIntoBucket(key);
    };
  }

  private boolean putIntoBucket(CompositeKey key) {
    int number = MapLayout.bucketOf(userKey.hash(), edit.buckets());
    records.editPart(
        key,
        MapLayout.FIRST_BUCKET + number,
        edit.identity(),
        edit.toBucket(edit.identity(), buckets.bucketLimit()));
    if (!edit.changes()) {
      return false;
    }
    if (edit.addedEntries() != 0 || edit.grownBy() != 0) {
      loadHead(key);
      head.add(edit.addedEntries(), edit.grownBy());
      buckets.splitWhileCrowded(key, head, edit.length());
      putHead(key);
    } else {
      records.identities().written();
    }
    return true;
  }

  /** Works on copies on the heap: whatever the fast way cannot do. */
  private void putSlowly(CompositeKey key, byte[] value, int length) {
    int entryBytes = EntryCursor.entryBytes(userKey.length(), length);
    boolean isRun = entryBytes > buckets.entryLimit();
    place.load(key);
    if (isRun && head.identity() == PartLayout.NONE) {
      head.makeRuns(records.takeIdentity());
    }
    boolean existed = place.find(key);
    if (head.identity() != PartLayout.NONE) {
      records.identities().writing(head.identity());
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
      records.put(key.record(place.bucketSub()), block.bytes(), 0);
      int added = (existed ? 0 : 1) - expired.entries();
      head.add(added, block.bytes().length() - before);
      buckets.splitWhileCrowded(key, head, block.bytes().length());
    } else if (block.bytes().length() > buckets.inlineLimit()) {
      buckets.spread(key, head);
    }
    putHead(key);
  }

  /** Removes a user key; false if the map did not have it. */
  public boolean remove(CompositeKey key, byte[] bytes, int offset, int length) {
    userKey.of(bytes, offset, length);
    records.edit(key.head(), removal);
    return switch (removal.outcome()) {
      case MISSING -> false;
      case REMOVED -> true;
      case LAST -> {
        records.delete(key.head());
        yield true;
      }
      case ELSEWHERE -> removeSlowly(key);
    };
  }

  /** Works on copies on the heap, of which the head's is there. */
  private boolean removeSlowly(CompositeKey key) {
    if (!place.find(key)) {
      return false;
    }
    HeapBlock block = place.block();
    int before = block.bytes().length();
    block.open(0);
    place.remove(key);
    block.close();
    if (head.hasBuckets()) {
      putOrDelete(key.record(place.bucketSub()), block, MapLayout.BUCKET_HEAD_BYTES);
      head.add(-1, block.bytes().length() - before);
      if (head.entries() == 0) {
        records.delete(key.head());
      } else {
        putHead(key);
      }
    } else {
      putOrDelete(key.head(), block, head.entriesAt());
    }
    return true;
  }

  private void putOrDelete(ByteSpan key, HeapBlock block, int bytesWithoutEntries) {
    if (block.bytes().length() == bytesWithoutEntries) {
      records.delete(key);
    } else {
      records.put(key, block.bytes(), 0);
    }
  }

  /** How often a bucket was split: for tests. */
  long splits() {
    return buckets.splits();
  }

  /** Removes all entries, blindly. */
  public void clear(CompositeKey key) {
    buckets.cleared();
    records.delete(key.head());
  }

  /** The map's entries, or null if it has none. See {@link MapCursor} for what it guarantees. */
  public @Nullable MapCursor entries(CompositeKey key) {
    MapCursor entries = new MapCursor(records, buckets, key.copyOfPrefix());
    return entries.start() ? entries : null;
  }

  /** Of the map with buckets whose head was seen by the edit, and may have expired since. */
  private void loadHead(CompositeKey key) {
    if (!records.read(key.head(), head.block())) {
      if (!records.identities().isTimed(key.state())) {
        throw new IllegalStateException("a map has a bucket and no head");
      }
      head.makeEmpty();
      head.makeRuns(edit.identity());
      head.makeBuckets(edit.buckets(), 0, 0);
    }
  }

  private void putHead(CompositeKey key) {
    records.putHead(key.head(), head.block().bytes());
  }
}
