package io.fasterkv.compaction;

import io.fasterkv.api.KeepRule;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.Engine;
import io.fasterkv.operation.KeepQuestion;
import java.util.function.LongSupplier;

/**
 * Estimates how much of the log need not be kept, by what the store's {@link KeepRule} says of
 * records of up to {@value #MOST_PARTS} pages: one in each equal part of the log, each time
 * another. A pass is due when that is more than an eighth of it. It goes from the log's begin up to
 * where no more than a 32nd is behind: what expires was mostly written first, so that such a pass
 * has little to copy. Pages in memory are looked at as those on disk, but for the one that is being
 * filled.
 *
 * <p>The estimate is made anew after a tenth of a second, and when nothing was due after twice the
 * time, up to ten seconds: so an idle store whose records may expire reads {@value #MOST_PARTS}
 * pages in ten seconds. For the thread that compacts.
 */
final class ExpirySample {
  private static final int MOST_PARTS = 16;
  private static final long DUE_SHARE = 8;
  private static final long LEFT_SHARE = 32;
  private static final long LEAST_NANOS = 100_000_000;
  private static final long MOST_NANOS = 10_000_000_000L;

  /** Steps by the golden ratio spread out evenly, however many there are. */
  private static final double STEP = 0.6180339887498949;

  /** So many records of a page are asked about at most, evenly spread. */
  private static final long MOST_PER_PAGE = 256;

  private final Engine engine;
  private final KeepRule rule;
  private final LongSupplier droppedBytes;
  private final LongSupplier nanoTime;
  private final long[] expired = new long[MOST_PARTS];
  private double place;
  private long pauseNanos = LEAST_NANOS;
  private long lookedNanos;
  private long dueUntil;
  private long expiredBytes;
  private long droppedBefore;

  /**
   * @param droppedBytes how much of what had expired compaction has dropped so far
   */
  ExpirySample(Engine engine, KeepRule rule, LongSupplier droppedBytes) {
    this(engine, rule, droppedBytes, System::nanoTime);
  }

  /** By another clock. */
  ExpirySample(Engine engine, KeepRule rule, LongSupplier droppedBytes, LongSupplier nanoTime) {
    this.engine = engine;
    this.rule = rule;
    this.droppedBytes = droppedBytes;
    this.nanoTime = nanoTime;
    lookedNanos = nanoTime.getAsLong();
  }

  /** Whether a pass up to {@link #dueUntil} is due; looks at pages of the log if it is time to. */
  boolean isDue() {
    if (nanoTime.getAsLong() - lookedNanos < pauseNanos || rule.keepsAll()) {
      return false;
    }
    boolean isDue = look();
    lookedNanos = nanoTime.getAsLong();
    if (!isDue) {
      pauseNanos = Math.min(2 * pauseNanos, MOST_NANOS);
    }
    return isDue;
  }

  /** Where the pass that is due ends. */
  long dueUntil() {
    return dueUntil;
  }

  /** How many bytes had expired when it looked last, and were not dropped since. */
  long expiredBytes() {
    return Math.max(0, expiredBytes - (droppedBytes.getAsLong() - droppedBefore));
  }

  /** A pass has left so many expired bytes behind; one that finds few is not soon repeated. */
  void passed(long bytes) {
    boolean isWorthIt = bytes >= expiredBytes / 2;
    pauseNanos = isWorthIt ? LEAST_NANOS : Math.min(2 * pauseNanos, MOST_NANOS);
    lookedNanos = nanoTime.getAsLong();
    expiredBytes = 0;
  }

  private boolean look() {
    HybridLog log = engine.log();
    long begin = log.holds().pinBriefly();
    try (KeepQuestion question = new KeepQuestion(engine, rule)) {
      long end = wholePagesEnd(log);
      int parts = (int) Math.min(MOST_PARTS, (end - begin) / log.pageBytes());
      if (parts == 0) {
        return false;
      }
      long part = (end - begin) / parts;
      place = (place + STEP) % 1;
      long sum = 0;
      for (int i = 0; i < parts; i++) {
        long page = log.pageStart(begin + i * part + (long) (place * part));
        expired[i] = (long) (expiredShare(question, begin, end, page) * part);
        sum += expired[i];
      }
      expiredBytes = sum;
      droppedBefore = droppedBytes.getAsLong();
      dueUntil = log.pageEnd(begin + parts(sum, (end - begin) / LEFT_SHARE) * part);
      return sum > (end - begin) / DUE_SHARE;
    } finally {
      log.holds().unpinBrief(begin);
    }
  }

  /** All that lies below has its headers, though some of it may be updated in place. */
  private long wholePagesEnd(HybridLog log) {
    long end = log.tailPageStart();
    if (end > log.safeReadOnlyAddress()) {
      engine.awaitEarlierOperations();
    }
    return end;
  }

  /** How many parts a pass has to take so that little is left behind it. */
  private int parts(long sum, long mayBeLeft) {
    long left = sum;
    int parts = 0;
    while (left > mayBeLeft) {
      left -= expired[parts];
      parts++;
    }
    return parts;
  }

  /** Each record that is asked about stands for itself, or for all up to the next. */
  private double expiredShare(KeepQuestion question, long begin, long end, long page) {
    HybridLog log = engine.log();
    long step = log.pageBytes() / MOST_PER_PAGE;
    long bytes = 0;
    long next = page;
    long until = log.pageEnd(page);
    try (ScanCursor scan = engine.scan(ScanRange.part(begin, end, page, until))) {
      while (scan.next()) {
        if (scan.address() < next) {
          continue;
        }
        next = (scan.address() & -step) + step;
        if (!scan.isLarge() && !scan.isTombstone() && !scan.isDelta()) {
          bytes += expiredBytes(question, scan, step);
        }
      }
    }
    return (double) bytes / log.pageBytes();
  }

  /** Of a record, or of one that stands for {@code step} bytes. */
  private long expiredBytes(KeepQuestion question, ScanCursor scan, long step) {
    long own = bytes(scan, scan.value().length());
    long all = Math.max(own, step);
    if (!question.keeps(scan.key(), scan.value())) {
      return all;
    }
    long kept = bytes(scan, question.trimmed(scan.key(), scan.value()).length());
    return (own - kept) * all / own;
  }

  private long bytes(ScanCursor scan, int valueBytes) {
    return engine.layout().recordBytes(scan.key().length(), valueBytes);
  }
}
