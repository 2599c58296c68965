package io.fasterkv.flink.records;

import io.fasterkv.flink.key.CompositeKey;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Lists of serialized elements, shaped as {@link ListLayout} draws them. An append costs the same
 * whatever the list's length: it never reads or copies a chunk that is full. For one thread at a
 * time.
 */
public final class ByteLists {
  private final Records records;
  private final AppendEdit edit = new AppendEdit();
  private final Bytes head = new Bytes();
  private final Bytes chunk = new Bytes();
  private final List<WeakReference<Chunks>> open = new ArrayList<>();
  private final int inlineLimit;

  public ByteLists(Records records) {
    this.records = records;
    this.inlineLimit = ListLayout.inlineLimit(records.limit());
  }

  /**
   * Appends one element, or several with separators between them, of up to {@link #mostTogether}
   * bytes. They stay together: they are read back in one piece.
   */
  public void append(CompositeKey key, byte[] elements, int offset, int count) {
    edit.of(elements, offset, count);
    if (ListLayout.TAG_BYTES + count > inlineLimit) {
      appendLong(key, elements, offset, count);
    } else {
      records.edit(key.head(), edit.toHead(inlineLimit));
      switch (edit.outcome()) {
        case DONE -> {}
        case IN_CHUNKS ->
            appendToChunk(key, edit.identity(), edit.lastChunk(), elements, offset, count);
        case FULL -> appendLong(key, elements, offset, count);
      }
    }
    edit.forget();
  }

  /** More bytes than these are one element. */
  public int mostTogether() {
    return records.limit() - ListLayout.CHUNK_HEAD_BYTES;
  }

  /** Makes these elements the whole list, blindly. */
  public void set(CompositeKey key, byte[] elements, int offset, int count) {
    forReaders(key, Chunks::hold);
    int length = ListLayout.TAG_BYTES + count;
    if (length > inlineLimit) {
      addChunks(key, records.takeIdentity(), 0, elements, offset, count);
      return;
    }
    head.clear();
    head.append(ListLayout.INLINE);
    head.append(elements, offset, count);
    records.put(key.head(), head, length);
  }

  /** The way of elements that do not fit an inline list. */
  private void appendLong(CompositeKey key, byte[] elements, int offset, int count) {
    if (!records.read(key.head(), head)) {
      addChunks(key, records.takeIdentity(), 0, elements, offset, count);
    } else if (head.array()[ListLayout.TAG_AT] == ListLayout.CHUNKED) {
      long identity = PartLayout.ofHead(head.array(), 0);
      int last = ListLayout.lastChunk(head.array(), 0);
      if (records.identities().isTimed(key.state())) {
        // As an edit does with a head that is not mutable: it must not go while a chunk comes.
        putHead(key, identity, last);
      }
      appendToChunk(key, identity, last, elements, offset, count);
    } else {
      long identity = records.takeIdentity();
      startChunk(identity, ListLayout.ENDS);
      chunk.append(head.array(), ListLayout.TAG_BYTES, head.length() - ListLayout.TAG_BYTES);
      putChunk(key, 1, ListLayout.chunkBytes(1, records.limit()));
      putHead(key, identity, 1);
      appendToChunk(key, identity, 1, elements, offset, count);
    }
  }

  private void appendToChunk(
      CompositeKey key, long identity, int last, byte[] elements, int offset, int count) {
    int limit = ListLayout.chunkBytes(last, records.limit());
    if (ListLayout.CHUNK_HEAD_BYTES + count < limit) {
      forReaders(key, chunks -> chunks.keep(last));
      records.editPart(key, last, identity, edit.toChunk(identity, limit));
      if (edit.isAnew()) {
        records.checkMayMiss(key, last);
        putHead(key, identity, last);
      } else {
        records.identities().written();
      }
      if (edit.outcome() == AppendEdit.Outcome.DONE) {
        return;
      }
    }
    addChunks(key, identity, last, elements, offset, count);
  }

  private void addChunks(
      CompositeKey key, long identity, int last, byte[] elements, int offset, int count) {
    records.identities().writing(identity);
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
      startChunk(identity, within | (ends ? ListLayout.ENDS : ListLayout.CONTINUES));
      if (within != 0) {
        chunk.append(elements, offset, ListLayout.START_BYTES);
      }
      chunk.append(elements, at, part);
      putChunk(key, next, ends && within == 0 ? room : chunk.length());
      at += part;
    }
    putHead(key, identity, next);
  }

  private void startChunk(long identity, int tag) {
    chunk.clear();
    chunk.appendLong(identity);
    chunk.append(tag);
  }

  private void putChunk(CompositeKey key, int number, int room) {
    forReaders(key, chunks -> chunks.keep(number));
    records.put(key.record(number), chunk, room);
  }

  private void putHead(CompositeKey key, long identity, int last) {
    head.clear();
    head.append(ListLayout.CHUNKED);
    head.appendLong(identity);
    head.appendInt(last);
    records.putHead(key.head(), head);
  }

  /** The list's elements as they are now, whatever is appended or removed later; null if none. */
  public @Nullable Chunks read(CompositeKey key) {
    Chunks chunks = chunksOf(key);
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

  private @Nullable Chunks chunksOf(CompositeKey key) {
    if (!records.read(key.head(), head)) {
      return null;
    }
    if (head.array()[ListLayout.TAG_AT] == ListLayout.INLINE) {
      return Chunks.of(head);
    }
    return Chunks.inStore(
        records,
        key.copyOfPrefix(),
        PartLayout.ofHead(head.array(), 0),
        ListLayout.lastChunk(head.array(), 0));
  }

  /** Removes a list, if there is one, blindly. */
  public void remove(CompositeKey key) {
    forReaders(key, Chunks::hold);
    records.delete(key.head());
  }

  /** Appends all of {@code source}, which is another list than the target, and removes it. */
  public void move(CompositeKey source, CompositeKey target) {
    Chunks chunks = chunksOf(source);
    if (chunks == null) {
      return;
    }
    Bytes group = new Bytes();
    for (int next = Chunks.FIRST; next != Chunks.END; ) {
      next = chunks.readGroup(next, group);
      if (group.length() > 0) {
        append(target, group.array(), 0, group.length());
      }
    }
    remove(source);
  }

  /** Before a list changes: whoever is still reading it, or its predecessor, keeps what it had. */
  private void forReaders(CompositeKey key, Consumer<Chunks> keep) {
    if (open.isEmpty()) {
      return;
    }
    for (WeakReference<Chunks> reference : open) {
      Chunks chunks = reference.get();
      if (chunks != null && chunks.isOf(key)) {
        keep.accept(chunks);
      }
    }
    open.removeIf(ByteLists::isOver);
  }

  private static boolean isOver(WeakReference<Chunks> reference) {
    Chunks chunks = reference.get();
    return chunks == null || chunks.isOnHeap();
  }
}
