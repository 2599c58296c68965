package io.fasterkv.device;

import io.fasterkv.api.LogOrigin;
import io.fasterkv.api.LogPiece;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The pieces of a log that a device borrows from where it came from, and which of them it has by
 * now. A piece that it has, or that nobody wants any more, stays so. Safe for all threads.
 */
final class BorrowedPieces {
  private static final int MISSING = 0;
  private static final int HERE = 1;

  private final List<? extends LogOrigin.File> files;

  /** Index of each file's first piece, and behind the last the number of pieces. */
  private final int[] firsts;

  private final long[] froms;
  private final long begin;
  private final long end;
  private final AtomicIntegerArray states;

  /** How many are missing: 0 for good once all are here. */
  private final AtomicInteger missing;

  BorrowedPieces(LogOrigin origin) {
    files = List.copyOf(origin.files());
    firsts = new int[files.size() + 1];
    for (int i = 0; i < files.size(); i++) {
      firsts[i + 1] = firsts[i] + files.get(i).pieces().size();
    }
    int count = firsts[files.size()];
    froms = new long[count];
    int next = 0;
    long until = 0;
    for (LogOrigin.File file : files) {
      for (LogPiece piece : file.pieces()) {
        froms[next++] = piece.from();
        until = piece.until();
      }
    }
    begin = count == 0 ? 0 : froms[0];
    end = until;
    states = new AtomicIntegerArray(count);
    missing = new AtomicInteger(count);
  }

  List<? extends LogOrigin.File> files() {
    return files;
  }

  int count() {
    return froms.length;
  }

  int missing() {
    return missing.getAcquire();
  }

  /** Whether all bytes of a range are here, or are none of these pieces'. */
  boolean areHere(long address, long bytes) {
    if (missing.getAcquire() == 0 || address >= end || address + bytes <= begin) {
      return true;
    }
    for (int piece = at(address); isIn(piece, address + bytes); piece++) {
      if (!isHere(piece)) {
        return false;
      }
    }
    return true;
  }

  /** The piece that has an address, or the first one if the address lies below all. */
  int at(long address) {
    int found = Arrays.binarySearch(froms, address);
    return found >= 0 ? found : Math.max(0, -found - 2);
  }

  /** Whether there is such a piece, and it begins below an address. */
  boolean isIn(int piece, long until) {
    return piece < froms.length && froms[piece] < until;
  }

  boolean isHere(int piece) {
    return states.getAcquire(piece) == HERE;
  }

  /** From now on it counts as here. */
  void setHere(int piece) {
    if (states.compareAndSet(piece, MISSING, HERE)) {
      missing.decrementAndGet();
    }
  }

  /** Counts all pieces as here that end at {@code address} or below. */
  void giveUpBelow(long address) {
    int piece = 0;
    while (missing() > 0 && piece < froms.length && piece(piece).until() <= address) {
      setHere(piece);
      piece++;
    }
  }

  LogPiece piece(int piece) {
    int file = fileOf(piece);
    return files.get(file).pieces().get(piece - firsts[file]);
  }

  LogOrigin.File file(int piece) {
    return files.get(fileOf(piece));
  }

  /** Index of a file's first piece. */
  int firstOf(int file) {
    return firsts[file];
  }

  private int fileOf(int piece) {
    int found = Arrays.binarySearch(firsts, piece);
    // Of files without pieces, the last one of those that begin here has this one.
    int file = found >= 0 ? found : -found - 2;
    while (firsts[file + 1] <= piece) {
      file++;
    }
    return file;
  }
}
