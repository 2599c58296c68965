package io.fasterkv.flink.records.list;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.base.PartLayout;
import io.fasterkv.flink.records.base.Records;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Stores lists of serialized elements, in the shape that {@link ListLayout} draws. The cost of an
 * append does not depend on the list's length: it never reads or copies a full chunk. For one
 * thread at a time.
 */
public final class ByteLists {
  private final Records records;
  private final AppendEdit edit = new AppendEdit();
  private final Bytes head = new Bytes();
  private final Bytes chunk = new Bytes();
  private final List<WeakReference<ListSnapshot>> open = new ArrayList<>();
  private final int inlineLimit;

  public ByteLists(Records records) {
    this.records = records;
    this.inlineLimit = ListLayout.inlineLimit(records.limit());
  }

  /**
   * Appends one element, or several with separators between them, of up to {@link
   * #mostBytesTogether} bytes. They are read back in one piece.
   */
  public void append(CompositeKey key, byte[] elements, int offset, int count) {
    edit.of(elements, offset, count);
    if (ListLayout.TAG_BYTES + count > inlineLimit) {
      appendLong(key, elements, offset, count);
    } else {
      records.editHead(key, edit.toHead(inlineLimit));
      switch (edit.outcome()) {
        case DONE -> {}
        case IN_CHUNKS ->
            appendToChunk(key, edit.incarnation(), edit.lastChunk(), elements, offset, count);
        case FULL -> appendLong(key, elements, offset, count);
      }
    }
    edit.forget();
  }

  /** Maximum length of several elements in one append; a longer append must be one element. */
  public int mostBytesTogether() {
    return records.limit() - ListLayout.CHUNK_HEAD_BYTES;
  }

  /** Replaces the whole list by these elements without reading the old one. */
  public void set(CompositeKey key, byte[] elements, int offset, int count) {
    forReaders(key, ListSnapshot::hold);
    int length = ListLayout.TAG_BYTES + count;
    if (length > inlineLimit) {
      addChunks(key, records.takeIncarnation(), 0, elements, offset, count);
      return;
    }
    head.clear();
    head.append(ListLayout.INLINE);
    head.append(elements, offset, count);
    records.putHead(key, head, length);
  }

  /** Appends elements that do not fit an inline list. */
  private void appendLong(CompositeKey key, byte[] elements, int offset, int count) {
    if (!records.read(key.head(), head)) {
      addChunks(key, records.takeIncarnation(), 0, elements, offset, count);
    } else if (head.array()[ListLayout.TAG_AT] == ListLayout.CHUNKED) {
      long incarnation = PartLayout.ofHead(head.array(), 0);
      int last = ListLayout.lastChunk(head.array(), 0);
      if (records.incarnations().isTimed(key.state())) {
        // Writes the head again, as an edit does with a head that is not mutable: compaction must
        // not drop it while a chunk is added.
        putHead(key, incarnation, last);
      }
      appendToChunk(key, incarnation, last, elements, offset, count);
    } else {
      long incarnation = records.takeIncarnation();
      startChunk(incarnation, ListLayout.ENDS);
      chunk.append(head.array(), ListLayout.TAG_BYTES, head.length() - ListLayout.TAG_BYTES);
      putChunk(key, 1, ListLayout.chunkBytes(1, records.limit()));
      putHead(key, incarnation, 1);
      appendToChunk(key, incarnation, 1, elements, offset, count);
    }
  }

  private void appendToChunk(
      CompositeKey key, long incarnation, int last, byte[] elements, int offset, int count) {
    int limit = ListLayout.chunkBytes(last, records.limit());
    if (ListLayout.CHUNK_HEAD_BYTES + count < limit) {
      forReaders(key, chunks -> chunks.keep(last));
      records.editPart(key, last, incarnation, edit.toChunk(incarnation, limit));
      if (edit.isNew()) {
        records.checkMayMiss(key, last);
        putHead(key, incarnation, last);
      } else {
        records.incarnations().written();
      }
      if (edit.outcome() == AppendEdit.Outcome.DONE) {
        return;
      }
    }
    addChunks(key, incarnation, last, elements, offset, count);
  }

  private void addChunks(
      CompositeKey key, long incarnation, int last, byte[] elements, int offset, int count) {
    records.incarnations().writing(incarnation);
    int next = last;
    int at = offset;
    int end = offset + count;
    while (at < end) {
      next++;
      int room = ListLayout.chunkBytes(next, records.limit());
      byte within = at > offset ? ListLayout.WITHIN : 0;
      int head = ListLayout.headBytes(within);
      boolean ends = end - at <= room - head;
      int part = ends ? end - at : Math.min(end - at, records.limit() - head);
      ends = at + part == end;
      startChunk(incarnation, within | (ends ? ListLayout.ENDS : ListLayout.CONTINUES));
      if (within != 0) {
        chunk.append(elements, offset, ListLayout.START_BYTES);
      }
      chunk.append(elements, at, part);
      putChunk(key, next, ends && within == 0 ? room : chunk.length());
      at += part;
    }
    putHead(key, incarnation, next);
  }

  private void startChunk(long incarnation, int tag) {
    chunk.clear();
    chunk.appendLong(incarnation);
    chunk.append(tag);
  }

  private void putChunk(CompositeKey key, int number, int room) {
    forReaders(key, chunks -> chunks.keep(number));
    records.put(key.record(number), chunk, room);
  }

  private void putHead(CompositeKey key, long incarnation, int last) {
    head.clear();
    head.append(ListLayout.CHUNKED);
    head.appendLong(incarnation);
    head.appendInt(last);
    records.putHead(key, head);
  }

  /**
   * Reads the list as a snapshot that later appends and removals do not change; null if there is
   * none.
   */
  public @Nullable ListSnapshot read(CompositeKey key) {
    ListSnapshot chunks = chunksOf(key);
    if (chunks != null && !chunks.isOnHeap()) {
      if (chunks.areFew()) {
        chunks.keepAll();
      } else {
        open.removeIf(ByteLists::isOver);
        open.add(new WeakReference<>(chunks));
      }
    }
    return chunks;
  }

  private @Nullable ListSnapshot chunksOf(CompositeKey key) {
    if (!records.read(key.head(), head)) {
      return null;
    }
    if (head.array()[ListLayout.TAG_AT] == ListLayout.INLINE) {
      return ListSnapshot.of(head);
    }
    return ListSnapshot.inStore(
        records,
        key.copyOfPrefix(),
        PartLayout.ofHead(head.array(), 0),
        ListLayout.lastChunk(head.array(), 0));
  }

  /** Removes a list, if there is one, without reading it. */
  public void remove(CompositeKey key) {
    forReaders(key, ListSnapshot::hold);
    records.delete(key.head());
  }

  /** Appends all elements of {@code source}, which must not be the target, and removes it. */
  public void move(CompositeKey source, CompositeKey target) {
    ListSnapshot chunks = chunksOf(source);
    if (chunks == null) {
      return;
    }
    Bytes group = new Bytes();
    for (int next = ListSnapshot.FIRST; next != ListSnapshot.END; ) {
      next = chunks.readGroup(next, group);
      if (group.length() > 0) {
        append(target, group.array(), 0, group.length());
      }
    }
    remove(source);
  }

  /**
   * Called before a list changes, so that open snapshots of it or of its predecessor keep their
   * elements.
   */
  private void forReaders(CompositeKey key, Consumer<ListSnapshot> keep) {
    if (open.isEmpty()) {
      return;
    }
    for (WeakReference<ListSnapshot> reference : open) {
      ListSnapshot chunks = reference.get();
      if (chunks != null && chunks.isOf(key)) {
        keep.accept(chunks);
      }
    }
    open.removeIf(ByteLists::isOver);
  }

  private static boolean isOver(WeakReference<ListSnapshot> reference) {
    ListSnapshot chunks = reference.get();
    return chunks == null || chunks.isOnHeap();
  }
}
