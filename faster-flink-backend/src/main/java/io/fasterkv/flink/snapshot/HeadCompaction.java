package io.fasterkv.flink.snapshot;

import java.util.ArrayList;
import java.util.List;

/**
 * Keeps checkpoints small for a log that fits memory. Records that a cut has made read-only are
 * copied when they change, so each checkpoint lengthens the log by what has changed; and background
 * compaction leaves a log alone that fits memory.
 *
 * <p>When the next checkpoint would name more than 31/16 of its live bytes and 128 KiB, if it is
 * like this one, this compacts the checkpoint's oldest files: as many as it takes, and so many
 * bytes that the copies and what is written until the next time fill a large file ({@link
 * FilePlan}). A file of which nothing is live is dropped without a copy.
 *
 * <p>It copies at most 8/7 of what was written. That is enough, since compaction frees the dead
 * bytes of the log, 7/8 of the live ones or more, once in each round over the log; and a wrong
 * count of live bytes does no more harm. Runs with the asynchronous part of a checkpoint, before
 * its upload. Safe for all threads.
 */
final class HeadCompaction {
  private static final long SLACK_BYTES = 128 << 10;

  private final Log log;

  /** End of the last checkpoint's log, and the bytes that compaction had copied by then. */
  private long lastEnd;

  private long lastMoved;
  private long lastLive;

  /** Number of bytes that may be copied. */
  private long credit;

  HeadCompaction(Log log) {
    this.log = log;
    lastEnd = log.end();
    lastMoved = log.movedBytes();
    lastLive = log.liveBytes();
  }

  /** The log that is compacted. */
  interface Log {
    long end();

    /** A lower bound for the live bytes. */
    long liveBytes();

    /** The same, after a sample has raised a number that is too low. */
    long sampledLiveBytes();

    /** How many bytes compaction has copied. */
    long movedBytes();

    /** Whether copies of so many bytes fit memory. */
    boolean hasRoom(long bytes);

    /**
     * Copies the live records below an address to the end. Returns whether the rest was dropped.
     */
    boolean compact(long until);
  }

  /** The part of a log in one file. */
  record Span(long from, long until) {
    long bytes() {
      return until - from;
    }

    /** The parts of a plan's files, in the order of their addresses. */
    static List<Span> of(FilePlan plan) {
      List<Span> spans = new ArrayList<>();
      plan.kept().forEach(file -> spans.add(new Span(file.from(), file.until())));
      plan.runs().forEach(run -> spans.add(new Span(run.getFirst().from(), run.getLast().until())));
      spans.sort((left, right) -> Long.compare(left.from, right.from));
      return spans;
    }
  }

  /**
   * Compacts the head of the log.
   *
   * @param files the files of the checkpoint, in the order of their addresses
   */
  synchronized void run(List<Span> files, Cancellation cancellation) {
    if (files.isEmpty()) {
      return;
    }
    long live = log.liveBytes();
    Growth growth = growth(files.getLast().until(), live);
    long named = files.stream().mapToLong(Span::bytes).sum();
    credit = Math.min(named, credit + growth.written + growth.written / 7);
    if (named + growth.expected(live) > allowed(live + growth.live)) {
      cancellation.inStore(() -> compact(files, named, growth, cancellation));
    }
  }

  /** Growth since the last checkpoint. */
  private Growth growth(long end, long live) {
    long moved = log.movedBytes();
    long copied = moved - lastMoved;
    Growth growth =
        new Growth(Math.max(0, end - lastEnd - copied), copied, Math.max(0, live - lastLive));
    lastEnd = end;
    lastMoved = moved;
    lastLive = live;
    return growth;
  }

  /**
   * What happened between two checkpoints.
   *
   * @param written bytes that were written, without copies
   * @param copied bytes that compaction has copied
   * @param live growth of the live bytes
   */
  private record Growth(long written, long copied, long live) {
    /**
     * Bytes that will be written until the next checkpoint. A record that compaction copied after
     * the last cut changes in place, and the log grows no longer. The next time there may be no
     * such copies, so those changes count as written.
     */
    long expected(long liveBytes) {
      double share = liveBytes / (double) Math.max(1, liveBytes - copied);
      return Math.max(written, Math.min(liveBytes, (long) (written * share)));
    }
  }

  private void compact(List<Span> files, long named, Growth growth, Cancellation cancellation) {
    long live = log.sampledLiveBytes();
    long allowed = allowed(live + growth.live);
    long next = named + growth.expected(live);
    if (next <= allowed) {
      return;
    }
    long least = FilePlan.fileBytes(next) / 2;
    for (Span file : files) {
      boolean isEnough = next <= allowed && least <= 0;
      if (isEnough || file.bytes() > credit || !log.hasRoom(file.bytes())) {
        return;
      }
      cancellation.check();
      long before = log.movedBytes();
      if (!log.compact(file.until())) {
        return;
      }
      long copied = log.movedBytes() - before;
      credit -= copied;
      next += copied - file.bytes();
      least -= file.bytes();
    }
  }

  private static long allowed(long live) {
    return live + live / 16 * 15 + SLACK_BYTES;
  }
}
