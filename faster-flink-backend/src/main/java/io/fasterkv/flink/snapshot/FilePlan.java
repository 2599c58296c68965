package io.fasterkv.flink.snapshot;

import io.fasterkv.spi.LogPiece;
import java.util.ArrayList;
import java.util.List;

/**
 * Plans the files of a checkpoint's log: files that exist already, and runs of pieces that become
 * new files.
 *
 * <p>A plan has at most {@value #MOST_FILES} files plus one for each 64 MiB of the log. A file is
 * large if it has at least half of {@link #fileBytes}; there is room for all large files and some
 * small ones. Large files are not uploaded again. The first checkpoint after a compaction of the
 * log's head, which copies enough for a large file, merges the small files at the end of the log
 * with the copies. So what a task writes is uploaded twice, and copies once.
 *
 * <p>If there are too many small files before that, the newest are merged, up to a file that is
 * longer than all behind it. So a byte is uploaded again about as often as its file doubles.
 *
 * @param kept existing files, in the order of their addresses
 * @param runs pieces of the files to write
 */
record FilePlan(List<LogFile> kept, List<List<LogPiece>> runs) {
  static final int MOST_FILES = 30;
  private static final int SPARE_FILES = 4;
  private static final long BYTES_OF_ONE_MORE = 64 << 20;
  private static final long LEAST_FULL_BYTES = 256 << 10;

  /** A large file has at least half of it, and so allows one file more. */
  private static final long MOST_FULL_BYTES = 2 * BYTES_OF_ONE_MORE;

  /** Large files are 1/12 to 1/24 of a log, which leaves room for small ones. */
  private static final int PARTS = 12;

  /**
   * Creates a plan.
   *
   * @param pieces of the log, in order
   * @param existing files that the checkpoint may use, in order
   * @param merges whether existing files may be written again
   */
  static FilePlan of(List<LogPiece> pieces, List<LogFile> existing, boolean merges) {
    if (pieces.isEmpty()) {
      return new FilePlan(List.of(), List.of());
    }
    long begin = pieces.getFirst().from();
    long end = pieces.getLast().until();
    long full = fileBytes(end - begin);
    long most = mostFiles(end - begin);
    List<LogFile> files = existing.stream().filter(file -> file.until() > begin).toList();
    FilePlan plan = plan(pieces, files, full);
    boolean isCompacted = files.size() < existing.size();
    if (!merges || plan.files() <= (isCompacted ? most - MOST_FILES / 2 : most)) {
      return plan;
    }
    for (int count = files.size(); count > 0; count--) {
      LogFile last = files.get(count - 1);
      boolean staysLonger = !isCompacted && last.bytes() > end - last.until();
      if (staysLonger || last.bytes() >= full / 2) {
        FilePlan shorter = plan(pieces, files.subList(0, count), full);
        if (shorter.files() <= (isCompacted ? most : most - SPARE_FILES)) {
          return shorter;
        }
      }
    }
    return plan(pieces, List.of(), full);
  }

  /** Maximum number of files of a log of this length. */
  static long mostFiles(long logBytes) {
    return MOST_FILES + logBytes / BYTES_OF_ONE_MORE;
  }

  /** Maximum length of a file of a log of this length. */
  static long fileBytes(long logBytes) {
    return Math.clamp(logBytes / PARTS, LEAST_FULL_BYTES, MOST_FULL_BYTES);
  }

  /** Number of files of the checkpoint. */
  int files() {
    return kept.size() + runs.size();
  }

  /** Bytes of log that are written. */
  long writtenBytes() {
    return runs.stream().mapToLong(FilePlan::bytes).sum();
  }

  static long bytes(List<LogPiece> run) {
    return run.getLast().until() - run.getFirst().from();
  }

  private static FilePlan plan(List<LogPiece> pieces, List<LogFile> files, long full) {
    List<List<LogPiece>> runs = new ArrayList<>();
    List<LogPiece> run = new ArrayList<>();
    int next = 0;
    for (LogPiece piece : pieces) {
      while (next < files.size() && files.get(next).until() <= piece.from()) {
        next++;
      }
      if (next < files.size() && has(files.get(next), piece)) {
        split(run, full, runs);
        run = new ArrayList<>();
      } else {
        run.add(piece);
      }
    }
    split(run, full, runs);
    return new FilePlan(files, runs);
  }

  private static boolean has(LogFile file, LogPiece piece) {
    return file.from() <= piece.from() && piece.until() <= file.until();
  }

  /** Splits pieces into the fewest runs of about the same length. */
  private static void split(List<LogPiece> pieces, long full, List<List<LogPiece>> runs) {
    if (pieces.isEmpty()) {
      return;
    }
    long begin = pieces.getFirst().from();
    long all = bytes(pieces);
    long part = Math.ceilDiv(all, Math.ceilDiv(all, full));
    int from = 0;
    for (int i = 1; i <= pieces.size(); i++) {
      if (i == pieces.size()
          || (pieces.get(i - 1).until() - begin - 1) / part
              != (pieces.get(i).until() - begin - 1) / part) {
        runs.add(pieces.subList(from, i));
        from = i;
      }
    }
  }
}
