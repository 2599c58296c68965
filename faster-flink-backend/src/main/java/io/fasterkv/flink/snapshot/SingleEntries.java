package io.fasterkv.flink.snapshot;

import io.fasterkv.flink.records.base.ValueLayout;

/** Reads single values: one record, or a head and pieces. Makes one entry for a value. */
class SingleEntries extends EntryReader {
  /** Bytes still missing from the value. */
  private int missing;

  private boolean isComplete;

  SingleEntries(SavepointValue of) {
    super(of);
  }

  @Override
  void read(int sub) {
    int before = gathered.length();
    if (sub == 0) {
      byte[] bytes = records.valueBytes();
      int start = records.valueStart();
      gathered.clear();
      if (bytes[start] == ValueLayout.PIECES) {
        missing = ValueLayout.lengthInPieces(bytes, start);
      } else {
        gather(ValueLayout.TAG_BYTES);
        isComplete = true;
      }
    } else if (missing > 0) {
      gather(ValueLayout.PIECE_HEAD_BYTES);
      missing -= gathered.length() - before;
      isComplete = missing == 0;
    }
  }

  @Override
  boolean next() {
    if (!isComplete) {
      return false;
    }
    isComplete = false;
    takeWhole();
    return true;
  }

  /** Makes the entry of what was gathered, which is the whole value. */
  void takeWhole() {
    takeGathered();
  }

  @Override
  void end() {
    if (missing > 0) {
      of.checkMayMiss();
    }
    missing = 0;
  }
}
