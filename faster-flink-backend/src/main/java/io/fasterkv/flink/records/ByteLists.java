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
    this.inlineLimit = Math.min(ListLayout.INLINE_BYTES, records.limit());
  }

  /**
   * Appends one element, or several with separators between them, of up to {@link #mostTogether}
   * bytes. They stay together: they are read back in one piece.
   */
  public void append(CompositeKey key, byte[] elements, int offset, int count) {
    forReaders(key, Chunks::keepLast);
    edit.of(elements, offset, count);
    if (ListLayout.TAG_BYTES + count > inlineLimit) {
      appendLong(key, elements, offset, count);
    } else {
      records.edit(key.head(), edit.to(true, inlineLimit));
      switch (edit.outcome()) {
        case DONE -> {}
        case IN_CHUNKS -> appendToChunk(key, edit.lastChunk(), elements, offset, count);
        case FULL -> appendLong(key, elements, offset, count);
      }
    }
    edit.forget();
  }

  /** More bytes than these are one element. */
  public int mostTogether() {
    return records.limit() - ListLayout.TAG_BYTES;
  }

  /**
   * Makes these elements the whole list. A short one is one blind write, as long as no list of the
   * state had chunks.
   */
  public void set(CompositeKey key, byte[] elements, int offset, int count) {
    int length = ListLayout.TAG_BYTES + count;
    if (length > inlineLimit) {
      remove(key);
      append(key, elements, offset, count);
      return;
    }
    forReaders(key, Chunks::detach);
    removeChunks(key);
    head.clear();
    head.append(ListLayout.INLINE);
    head.append(elements, offset, count);
    records.put(key.head(), head, length);
  }

  /** The way of elements that do not fit an inline list. */
  private void appendLong(CompositeKey key, byte[] elements, int offset, int count) {
    if (!records.read(key.head(), head)) {
      addChunks(key, 0, elements, offset, count);
    } else if (head.array()[ListLayout.TAG_AT] == ListLayout.CHUNKED) {
      int last = ListLayout.lastChunk(head.array(), 0);
      appendToChunk(key, last, elements, offset, count);
    } else {
      head.array()[ListLayout.TAG_AT] = ListLayout.ENDS;
      records.put(key.record(1), head, ListLayout.chunkBytes(1, records.limit()));
      putHead(key, 1);
      appendToChunk(key, 1, elements, offset, count);
    }
  }

  private void appendToChunk(CompositeKey key, int last, byte[] elements, int offset, int count) {
    int limit = ListLayout.chunkBytes(last, records.limit());
    if (ListLayout.TAG_BYTES + count < limit) {
      records.edit(key.record(last), edit.to(false, limit));
      if (edit.outcome() == AppendEdit.Outcome.DONE) {
        return;
      }
    }
    addChunks(key, last, elements, offset, count);
  }

  private void addChunks(CompositeKey key, int last, byte[] elements, int offset, int count) {
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
      chunk.clear();
      chunk.append((byte) (within | (ends ? ListLayout.ENDS : ListLayout.CONTINUES)));
      if (within != 0) {
        chunk.append(elements, offset, ListLayout.START_BYTES);
      }
      chunk.append(elements, at, part);
      records.put(key.record(next), chunk, ends && within == 0 ? room : chunk.length());
      at += part;
    }
    putHead(key, next);
  }

  private void putHead(CompositeKey key, int last) {
    records.notePartsOf(key.state());
    head.clear();
    head.append(ListLayout.CHUNKED);
    head.appendInt(last);
    records.put(key.head(), head, head.length());
  }

  /** The list's elements as they are now, whatever is appended or removed later; null if none. */
  public @Nullable Chunks read(CompositeKey key) {
    Chunks chunks = chunksOf(key);
    if (chunks != null && !chunks.isDetached()) {
      if (chunks.areFew()) {
        chunks.detach();
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
    return Chunks.inStore(records, key.copyOfPrefix(), ListLayout.lastChunk(head.array(), 0));
  }

  /** Removes a list, if there is one. */
  public void remove(CompositeKey key) {
    forReaders(key, Chunks::detach);
    removeChunks(key);
    records.delete(key.head());
  }

  private void removeChunks(CompositeKey key) {
    if (records.mayHaveParts(key.state())
        && records.read(key.head(), head)
        && head.array()[ListLayout.TAG_AT] == ListLayout.CHUNKED) {
      int last = ListLayout.lastChunk(head.array(), 0);
      for (int number = 1; number <= last; number++) {
        records.delete(key.record(number));
      }
    }
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

  /** Before a list changes: whoever is still reading it keeps what it had. */
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
    return chunks == null || chunks.isDetached();
  }
}
