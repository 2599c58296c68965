package io.fasterkv.flink.snapshot;

import io.fasterkv.flink.records.list.ListLayout;

/**
 * Reads lists: one record, or a head and chunks, in which an element may continue from one chunk to
 * the next. Makes one entry for a list. Chunks may have expired, and with them the elements that
 * are incomplete without them.
 */
final class ListEntries extends EntryReader {
  /** Chunks still missing from the list. */
  private int missing;

  /** Whether chunks are being read; the list ends at the next head. */
  private boolean isOpen;

  private boolean isComplete;

  /** Number of the next chunk if the last element continues in it, or 0. */
  private int continuesAt;

  /** Start of that element. */
  private int elementAt;

  ListEntries(SavepointValue of) {
    super(of);
  }

  @Override
  void read(int sub) {
    if (sub == 0) {
      readHead();
    } else {
      readChunk(sub);
    }
  }

  private void readHead() {
    byte[] bytes = records.valueBytes();
    int start = records.valueStart();
    gathered.clear();
    continuesAt = 0;
    if (bytes[start + ListLayout.TAG_AT] == ListLayout.CHUNKED) {
      isOpen = true;
      missing = ListLayout.lastChunk(bytes, start);
    } else {
      gather(ListLayout.TAG_BYTES);
      isComplete = true;
    }
  }

  private void readChunk(int sub) {
    missing--;
    byte tag = records.valueBytes()[records.valueStart() + ListLayout.CHUNK_TAG_AT];
    boolean isNext = continuesAt == sub;
    if (continuesAt != 0 && !(isNext && ListLayout.isWithin(tag))) {
      dropElement();
    }
    if (ListLayout.isWithin(tag)) {
      if (!isNext) {
        return;
      }
    } else {
      elementAt = gathered.length();
      if (elementAt > 0) {
        gathered.append(ListLayout.SEPARATOR);
      }
    }
    gather(ListLayout.headBytes(tag));
    continuesAt = ListLayout.isContinued(tag) ? sub + 1 : 0;
  }

  /** Drops the last element, whose end has expired. */
  private void dropElement() {
    gathered.setLength(elementAt);
    continuesAt = 0;
  }

  @Override
  void end() {
    if (missing > 0) {
      of.checkMayMiss();
    }
    missing = 0;
    if (isOpen) {
      isOpen = false;
      if (continuesAt != 0) {
        dropElement();
      }
      isComplete = gathered.length() > 0;
    }
  }

  @Override
  boolean next() {
    if (!isComplete) {
      return false;
    }
    isComplete = false;
    takeGathered();
    return true;
  }
}
