package io.fasterkv.compaction;

import io.fasterkv.api.KeepRule;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.Engine;
import io.fasterkv.operation.KeepQuestion;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;

/**
 * Estimates how much of the log need not be kept, by what the store's {@link KeepRule} says of
 * records of some pages ({@link SampledPages}). A pass is due when that is more than an eighth of
 * it. It goes from the log's begin up to where no more than a 32nd is behind: what expires was
 * mostly written first, so that such a pass has little to copy. Of an eager rule pages in memory
 * are looked at as those on disk, but for the one that is being filled.
 *
 * <p>The estimate is made anew after a tenth of a second, and when nothing was due after twice the
 * time, or when a pass will be due if things go on as they do, at most ten seconds later: so an
 * idle store whose records may expire reads {@value SampledPages#MOST} pages in ten seconds. For
 * the thread that compacts.
 */
final class ExpirySample {
  private static final long DUE_SHARE = 8;

  /** Looks that err by a few percent are to find what is a fifth. */
  private static final long MOST_SHARE = 6;

  private static final long LEFT_SHARE = 32;

  /**
   * A look that finds so much more than is believed is not to be expected where nothing happens.
   */
  private static final long FAR_OFF_SHARE = 16;

  private static final long LEAST_NANOS = 100_000_000;
  private static final long MOST_NANOS = 10_000_000_000L;

  private static final int PLACES_PER_PAGE = 256;

  /** One look in so many counts for what is believed. */
  private static final long STEADINESS = 4;

  private final Engine engine;
  private final KeepRule rule;
  private final LongSupplier droppedBytes;
  private final LongSupplier nanoTime;
  private final long[] expired = new long[SampledPages.MOST];
  private final SplittableRandom random = new SplittableRandom(1);
  private final SampledPages pages;
  private long pauseNanos = LEAST_NANOS;
  private long pauseBeforeNanos = LEAST_NANOS;
  private long lookedNanos;
  private long dueUntil;

  /** What the last look has found, and which part of the log that was; none since a pass. */
  private long foundBytes;

  private double share;
  private long steadyBytes;
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
    pages = new SampledPages(engine.log());
    this.rule = rule;
    this.droppedBytes = droppedBytes;
    this.nanoTime = nanoTime;
    lookedNanos = nanoTime.getAsLong();
  }

  /** Whether a pass up to {@link #dueUntil} is due; looks at pages of the log if it is time to. */
  boolean isDue() {
    if (!isTimeToLook()) {
      return false;
    }
    double before = share;
    boolean isDue = look();
    long now = nanoTime.getAsLong();
    pauseNanos = Math.min(2 * pauseNanos, nanosUntilDue(share - before, now - lookedNanos));
    lookedNanos = now;
    return isDue;
  }

  /** A pass that has to wait looks again, if it is time to; soon, if that was far off. */
  boolean lookAgain() {
    if (!isTimeToLook()) {
      return false;
    }
    boolean isDue = look();
    boolean isFarOff = foundBytes - expiredBytes() > engine.log().lengthBytes() / FAR_OFF_SHARE;
    pauseNanos = isFarOff ? LEAST_NANOS : Math.min(2 * pauseNanos, MOST_NANOS);
    lookedNanos = nanoTime.getAsLong();
    return isDue;
  }

  private boolean isTimeToLook() {
    return nanoTime.getAsLong() - lookedNanos >= pauseNanos && !rule.keepsAll();
  }

  /** If it goes on as since the last look. */
  private long nanosUntilDue(double grown, long nanos) {
    if (grown <= 0) {
      return MOST_NANOS;
    }
    double missing = Math.max(0, 1.0 / DUE_SHARE - share);
    return Math.clamp((long) (missing / grown * nanos), LEAST_NANOS, MOST_NANOS);
  }

  /** Where the pass that is due ends. */
  long dueUntil() {
    return dueUntil;
  }

  /**
   * How many bytes had expired when it looked, the last time counting for a quarter, and were not
   * dropped since. A look at few pages may be far from what is so.
   */
  long expiredBytes() {
    return Math.max(0, steadyBytes - (droppedBytes.getAsLong() - droppedBefore));
  }

  /**
   * Whether a pass is to go on where a checkpoint keeps the log: of one in which a sixth has
   * expired evenly five bytes are copied for each that is dropped.
   */
  boolean isTooMuch() {
    return rule.isEager() && expiredBytes() > engine.log().lengthBytes() / MOST_SHARE;
  }

  /** A pass begins, which may have to wait. */
  void passBegins() {
    pauseBeforeNanos = pauseNanos;
    pauseNanos = LEAST_NANOS;
  }

  /** A pass has left so many expired bytes behind; one that finds few is not soon repeated. */
  void passed(long bytes) {
    boolean isWorthIt = bytes >= foundBytes / 2;
    pauseNanos = isWorthIt ? LEAST_NANOS : Math.min(2 * pauseBeforeNanos, MOST_NANOS);
    lookedNanos = nanoTime.getAsLong();
    foundBytes = 0;
    share = 0;
  }

  private boolean look() {
    HybridLog log = engine.log();
    long begin = log.holds().pinBriefly();
    try (KeepQuestion question = new KeepQuestion(engine, rule)) {
      long end = rule.isEager() ? wholePagesEnd(log) : log.flushedAddress();
      int parts = pages.choose(begin, end);
      if (parts == 0) {
        found(0, 0);
        return false;
      }
      long part = pages.partBytes();
      long sum = 0;
      for (int i = 0; i < parts; i++) {
        expired[i] = (long) (expiredShare(question, begin, end, pages.page(i)) * part);
        sum += expired[i];
      }
      found(sum, (double) sum / (end - begin));
      long passed = begin + parts(sum, (end - begin) / LEFT_SHARE) * part;
      dueUntil = Math.min(end, log.pageEnd(passed));
      return sum > (end - begin) / DUE_SHARE;
    } finally {
      log.holds().unpinBrief(begin);
    }
  }

  private void found(long bytes, double ofAll) {
    steadyBytes = expiredBytes() + (bytes - expiredBytes()) / STEADINESS;
    droppedBefore = droppedBytes.getAsLong();
    foundBytes = bytes;
    share = ofAll;
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

  /** A record is asked about if a place lies in it. */
  private double expiredShare(KeepQuestion question, long begin, long end, long page) {
    HybridLog log = engine.log();
    PagePlaces places = new PagePlaces(random, page, log.pageBytes(), PLACES_PER_PAGE);
    double found = 0;
    try (ScanCursor scan = engine.scan(ScanRange.part(begin, end, page, log.pageEnd(page)))) {
      while (scan.next()) {
        int count = places.in(scan.address(), scan.endAddress());
        if (count > 0 && isWorthAsking(scan)) {
          found += count * expiredPart(question, scan);
        }
      }
    }
    return found / PLACES_PER_PAGE;
  }

  /** What is overwritten is dead, whether it has expired or not. */
  private static boolean isWorthAsking(ScanCursor scan) {
    return !scan.isLarge() && !scan.isTombstone() && !scan.isDelta() && !scan.isOverwritten();
  }

  /** Which part of a record has expired. */
  private double expiredPart(KeepQuestion question, ScanCursor scan) {
    if (!question.keeps(scan.key(), scan.value())) {
      return 1;
    }
    long own = bytes(scan, scan.value().length());
    long kept = bytes(scan, question.trimmed(scan.key(), scan.value()).length());
    return (double) (own - kept) / own;
  }

  private long bytes(ScanCursor scan, int valueBytes) {
    return engine.layout().recordBytes(scan.key().length(), valueBytes);
  }
}
