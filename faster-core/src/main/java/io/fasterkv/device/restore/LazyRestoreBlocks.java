package io.fasterkv.device.restore;

import io.fasterkv.spi.LogOrigin;
import io.fasterkv.spi.LogPiece;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The blocks of a log that a device reads from its origin, and which of them are local: in the
 * device's own files. A block that is local or no longer needed stays so. Safe for all threads.
 */
final class LazyRestoreBlocks {
  private final List<? extends LogOrigin.File> files;

  /** For each piece: its file, its number in the file, its first address, and its first block. */
  private final int[] fileOf;

  private final int[] numberOf;
  private final long[] froms;

  /** After the last piece: the number of blocks. */
  private final int[] firstBlocks;

  private final long begin;
  private final long end;

  /** A bit for each block: 1 once it is local. Nothing else decides whether it is. */
  private final AtomicLongArray here;

  /** Set once all bits were seen to be 1. */
  private volatile boolean isWhole;

  /** For reports: lags behind the bits. */
  private final AtomicLong missingBytes;

  /** All blocks below it count as local; moves under the lock of the caller's truncation. */
  private int givenUp;

  LazyRestoreBlocks(LogOrigin origin) {
    files = List.copyOf(origin.files());
    int pieces = files.stream().mapToInt(file -> file.pieces().size()).sum();
    fileOf = new int[pieces];
    numberOf = new int[pieces];
    froms = new long[pieces];
    firstBlocks = new int[pieces + 1];
    int next = 0;
    long until = 0;
    for (int file = 0; file < files.size(); file++) {
      int blockBytes = files.get(file).blockBytes();
      int number = 0;
      for (LogPiece piece : files.get(file).pieces()) {
        fileOf[next] = file;
        numberOf[next] = number++;
        froms[next] = piece.from();
        firstBlocks[next + 1] = firstBlocks[next] + piece.blocks(blockBytes);
        until = piece.until();
        next++;
      }
    }
    begin = pieces == 0 ? 0 : froms[0];
    end = until;
    int count = firstBlocks[pieces];
    here = new AtomicLongArray((count + Long.SIZE - 1) / Long.SIZE);
    missingBytes = new AtomicLong(end - begin);
  }

  List<? extends LogOrigin.File> files() {
    return files;
  }

  int count() {
    return firstBlocks[froms.length];
  }

  /** Whether all blocks are local. */
  boolean isWhole() {
    if (!isWhole) {
      isWhole = areAllSet();
    }
    return isWhole;
  }

  private boolean areAllSet() {
    int words = count() / Long.SIZE;
    for (int word = 0; word < words; word++) {
      if (here.getAcquire(word) != -1L) {
        return false;
      }
    }
    long last = (1L << count()) - 1;
    return last == 0 || here.getAcquire(words) == last;
  }

  /** How many bytes are missing: never too few. */
  long missingBytes() {
    return isWhole ? 0 : missingBytes.getAcquire();
  }

  /** Whether each byte of a range is local or outside all of these blocks. */
  boolean areLocal(long address, long bytes) {
    if (isWhole || address >= end || address + bytes <= begin) {
      return true;
    }
    for (int block = at(address); isIn(block, address + bytes); block++) {
      if (!isLocal(block)) {
        return false;
      }
    }
    return true;
  }

  /** The block that contains an address, or the first block if the address is below all of them. */
  int at(long address) {
    if (froms.length == 0) {
      return 0;
    }
    int found = Arrays.binarySearch(froms, address);
    int piece = found >= 0 ? found : Math.max(0, -found - 2);
    long within = Math.clamp(address, froms[piece], pieceUntil(piece) - 1);
    int blockBytes = blockBytes(piece);
    return firstBlocks[piece] + (int) (within / blockBytes - froms[piece] / blockBytes);
  }

  /** Whether there is such a block, and it begins below an address. */
  boolean isIn(int block, long until) {
    return block < count() && from(block) < until;
  }

  boolean isLocal(int block) {
    return (here.getAcquire(block / Long.SIZE) & 1L << block) != 0;
  }

  /** Marks a block as local. */
  void setLocal(int block) {
    long bytes = until(block) - from(block);
    long bit = 1L << block;
    int word = block / Long.SIZE;
    for (long seen = here.getAcquire(word); (seen & bit) == 0; ) {
      long found = here.compareAndExchangeRelease(word, seen, seen | bit);
      if (found == seen) {
        missingBytes.addAndGet(-bytes);
        return;
      }
      seen = found;
    }
  }

  /** Marks all blocks that end at {@code address} or below as local. One caller at a time. */
  void giveUpBelow(long address) {
    while (givenUp < count() && until(givenUp) <= address) {
      setLocal(givenUp);
      givenUp++;
    }
  }

  long from(int block) {
    int piece = pieceOf(block);
    int blockBytes = blockBytes(piece);
    long cut = (froms[piece] / blockBytes + block - firstBlocks[piece]) * blockBytes;
    return Math.max(froms[piece], cut);
  }

  long until(int block) {
    int piece = pieceOf(block);
    int blockBytes = blockBytes(piece);
    long cut = (froms[piece] / blockBytes + block - firstBlocks[piece] + 1) * blockBytes;
    return Math.min(pieceUntil(piece), cut);
  }

  int crc(int block) {
    int piece = pieceOf(block);
    return files.get(fileOf[piece]).blockCrc(numberOf[piece], block - firstBlocks[piece]);
  }

  LogOrigin.File file(int block) {
    return files.get(fileOf[pieceOf(block)]);
  }

  /** The first block after the piece of a block. */
  int endOfPiece(int block) {
    return firstBlocks[pieceOf(block) + 1];
  }

  /** The first block after the file of a block. */
  int endOfFile(int block) {
    int piece = pieceOf(block);
    int file = fileOf[piece];
    int next = piece + 1;
    // The pieces of a file are consecutive.
    next += files.get(file).pieces().size() - numberOf[piece] - 1;
    return firstBlocks[next];
  }

  private int blockBytes(int piece) {
    return files.get(fileOf[piece]).blockBytes();
  }

  private long pieceUntil(int piece) {
    return piece + 1 < froms.length ? froms[piece + 1] : end;
  }

  private int pieceOf(int block) {
    int found = Arrays.binarySearch(firstBlocks, block);
    return found >= 0 ? found : -found - 2;
  }
}
