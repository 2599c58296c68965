package io.fasterkv.compaction;

import io.fasterkv.api.config.KeepRule;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.move.KeepQuestion;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;

/**
 * Estimates how much of the log has expired, by applying the store's {@link KeepRule} to records of
 * some pages ({@link SampledPages}). A run is due when that is more than an eighth of the log. It
 * covers the log from its begin up to where at most a 32nd has expired: what expires was mostly
 * written first, so such a run has little to copy. For an eager rule, pages in memory are sampled
 * like those on disk, except for the tail page.
 *
 * <p>The estimate is repeated after a tenth of a second. If nothing was due, the pause doubles, or
 * lasts until a run will be due at the current rate, at most ten seconds. So an idle store whose
 * records may expire reads {@value SampledPages#MOST} pages in ten seconds. For the compacting
 * thread.
 */
final class ExpirySample {
  private static final long DUE_SHARE = 8;

  /** A sixth, so that samples with an error of a few percent detect a fifth. */
  private static final long MOST_SHARE = 6;

  private static final long LEFT_SHARE = 32;

  /**
   * A sample that exceeds the current estimate by this part of the log is unlikely unless something
   * changed.
   */
  private static final long FAR_OFF_SHARE = 16;

  private static final long LEAST_NANOS = 100_000_000;
  private static final long MOST_NANOS = 10_000_000_000L;

  private static final int PLACES_PER_PAGE = 256;

  /** A new sample counts for one part in this many in the estimate. */
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
  private long sampledNanos;
  private long dueUntil;

  /**
   * Expired bytes found by the last sample; 0 after a run. The share below is their part of the
   * log.
   */
  private long foundBytes;

  private double share;
  private long steadyBytes;
  private long droppedBefore;

  /**
   * @param droppedBytes expired bytes that compaction has dropped so far
   */
  ExpirySample(Engine engine, KeepRule rule, LongSupplier droppedBytes) {
    this(engine, rule, droppedBytes, System::nanoTime);
  }

  /** With another clock. */
  ExpirySample(Engine engine, KeepRule rule, LongSupplier droppedBytes, LongSupplier nanoTime) {
    this.engine = engine;
    pages = new SampledPages(engine.log());
    this.rule = rule;
    this.droppedBytes = droppedBytes;
    this.nanoTime = nanoTime;
    sampledNanos = nanoTime.getAsLong();
  }

  /** Whether a run up to {@link #dueUntil} is due; takes a sample if it is time to. */
  boolean isDue() {
    if (!isSampleDue()) {
      return false;
    }
    double before = share;
    boolean isDue = sample();
    long now = nanoTime.getAsLong();
    pauseNanos = Math.min(2 * pauseNanos, nanosUntilDue(share - before, now - sampledNanos));
    sampledNanos = now;
    return isDue;
  }

  /**
   * Takes a sample during a run that has to wait, if it is time to; repeats it soon if the estimate
   * was far off.
   */
  boolean sampleAgain() {
    if (!isSampleDue()) {
      return false;
    }
    boolean isDue = sample();
    boolean isFarOff = foundBytes - expiredBytes() > engine.log().lengthBytes() / FAR_OFF_SHARE;
    pauseNanos = isFarOff ? LEAST_NANOS : Math.min(2 * pauseNanos, MOST_NANOS);
    sampledNanos = nanoTime.getAsLong();
    return isDue;
  }

  private boolean isSampleDue() {
    return nanoTime.getAsLong() - sampledNanos >= pauseNanos && !rule.keepsAll();
  }

  /** Time until a run is due at the rate since the last sample. */
  private long nanosUntilDue(double grown, long nanos) {
    if (grown <= 0) {
      return MOST_NANOS;
    }
    double missing = Math.max(0, 1.0 / DUE_SHARE - share);
    return Math.clamp((long) (missing / grown * nanos), LEAST_NANOS, MOST_NANOS);
  }

  /** End address of the run that is due. */
  long dueUntil() {
    return dueUntil;
  }

  /**
   * Estimated expired bytes that were not dropped since. The last sample counts for a quarter,
   * since a sample of few pages may be far off.
   */
  long expiredBytes() {
    return Math.max(0, steadyBytes - (droppedBytes.getAsLong() - droppedBefore));
  }

  /**
   * Whether a run must continue although a checkpoint keeps the log. If a sixth of a log has
   * expired evenly, five bytes are copied for each byte dropped.
   */
  boolean isTooMuch() {
    return rule.isEager() && expiredBytes() > engine.log().lengthBytes() / MOST_SHARE;
  }

  /** Called when a run begins, which may have to wait. */
  void runBegins() {
    pauseBeforeNanos = pauseNanos;
    pauseNanos = LEAST_NANOS;
  }

  /**
   * Called when a run has dropped so many expired bytes; a run that finds few is not repeated soon.
   */
  void runEnded(long bytes) {
    boolean isWorthIt = bytes >= foundBytes / 2;
    pauseNanos = isWorthIt ? LEAST_NANOS : Math.min(2 * pauseBeforeNanos, MOST_NANOS);
    sampledNanos = nanoTime.getAsLong();
    foundBytes = 0;
    share = 0;
  }

  private boolean sample() {
    HybridLog log = engine.log();
    long begin = log.pins().pinBriefly();
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
      long position = begin + parts(sum, (end - begin) / LEFT_SHARE) * part;
      dueUntil = Math.min(end, log.pageEnd(position));
      return sum > (end - begin) / DUE_SHARE;
    } finally {
      log.pins().unpinBrief(begin);
    }
  }

  private void found(long bytes, double ofAll) {
    steadyBytes = expiredBytes() + (bytes - expiredBytes()) / STEADINESS;
    droppedBefore = droppedBytes.getAsLong();
    foundBytes = bytes;
    share = ofAll;
  }

  /**
   * End of the part in which every record has its header, although some may still be updated in
   * place.
   */
  private long wholePagesEnd(HybridLog log) {
    long end = log.tailPageStart();
    if (end > log.safeReadOnlyAddress()) {
      engine.awaitEarlierOperations();
    }
    return end;
  }

  /** Number of parts that a run must cover so that at most {@code mayBeLeft} bytes remain. */
  private int parts(long sum, long mayBeLeft) {
    long left = sum;
    int parts = 0;
    while (left > mayBeLeft) {
      left -= expired[parts];
      parts++;
    }
    return parts;
  }

  /** The expired part of a page. A record is examined if a random place is in it. */
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

  /** An overwritten record is dead, whether it has expired or not. */
  private static boolean isWorthAsking(ScanCursor scan) {
    return !scan.isLarge() && !scan.isTombstone() && !scan.isDelta() && !scan.isOverwritten();
  }

  /** The expired part of a record. */
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
