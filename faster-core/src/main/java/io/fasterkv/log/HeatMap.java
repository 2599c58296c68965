package io.fasterkv.log;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Counts the reads from disk for each stretch of 4 MiB of the log. A checkpoint stores the counts,
 * one byte a stretch, so that a store restored from it first copies what was read most. They are
 * only hints: every record is found whatever they are.
 *
 * <p>One record in 16 is counted, chosen by a hash of its address. So a read from disk costs a
 * multiplication more, and a read in memory nothing. Each checkpoint halves the counts. Stretches
 * in memory are not counted; they are the newest, and a checkpoint rates them above all others.
 *
 * <p>The counts are a ring over the log's addresses, which a checkpoint sizes for twice the log's
 * length. If the log outgrows the ring in between, two stretches share a count. Threads increment
 * without atomicity, so increments may be lost.
 */
public final class HeatMap {
  /** The length of a stretch. */
  public static final long STRETCH_BYTES = 4L << 20;

  private static final int STRETCH_BITS = Long.numberOfTrailingZeros(STRETCH_BYTES);
  private static final long MIX = 0x9E3779B97F4A7C15L;
  private static final int SAMPLED_BITS = 4;
  private static final int LEAST_STRETCHES = 16;
  private static final int MOST_COUNT = 1 << 30;

  /** A byte has eight steps for each doubling of the count. */
  private static final double STEPS = 8;

  private static final int MOST_HEAT = 0xFF;

  private volatile AtomicIntegerArray counts = new AtomicIntegerArray(LEAST_STRETCHES);

  /** Counts a read of the record at an address from disk. */
  public void readFromDisk(long address) {
    if (address * MIX >>> (Long.SIZE - SAMPLED_BITS) == 0) {
      AtomicIntegerArray ring = counts;
      int at = index(ring, address >>> STRETCH_BITS);
      int count = ring.getPlain(at);
      if (count < MOST_COUNT) {
        ring.setPlain(at, count + 1);
      }
    }
  }

  private static int index(AtomicIntegerArray ring, long stretch) {
    return (int) stretch & (ring.length() - 1);
  }

  /** The heat of the stretch that has an address, from 0 to 255. */
  public int heat(long address) {
    AtomicIntegerArray ring = counts;
    return heat(ring.getPlain(index(ring, address >>> STRETCH_BITS)));
  }

  private static int heat(int count) {
    return (int) Math.min(MOST_HEAT, Math.round(STEPS * Math.log1p(count) / Math.log(2)));
  }

  private static int count(int heat) {
    return (int) Math.min(MOST_COUNT, Math.round(Math.pow(2, heat / STEPS)) - 1);
  }

  /** Number of stretches in a part of the log. */
  public static long stretches(long begin, long end) {
    return end <= begin ? 0 : ((end - 1) >>> STRETCH_BITS) - (begin >>> STRETCH_BITS) + 1;
  }

  /**
   * The heat of each stretch of the log, for a checkpoint. Halves all counts. One caller at a time.
   *
   * @param begin begin of the log
   * @param head the log is in memory from here on
   * @param end end of the log
   */
  public ByteBuffer save(long begin, long head, long end) {
    AtomicIntegerArray old = counts;
    int stretches = (int) stretches(begin, end);
    long first = begin >>> STRETCH_BITS;
    byte[] heats = new byte[stretches];
    AtomicIntegerArray halved = ring(stretches);
    int most = 0;
    for (int i = 0; i < stretches; i++) {
      int count = old.getPlain(index(old, first + i));
      halved.setPlain(index(halved, first + i), count / 2);
      heats[i] = (byte) heat(count);
      most = Math.max(most, heat(count));
    }
    for (int i = (int) stretches(begin, head); i < stretches; i++) {
      heats[i] = (byte) Math.min(MOST_HEAT, most + 1);
    }
    counts = halved;
    return ByteBuffer.wrap(heats).asReadOnlyBuffer();
  }

  /** Loads the counts that a checkpoint has saved. Must be called before any read. */
  public void load(long begin, ByteBuffer heats) {
    AtomicIntegerArray ring = ring(heats.remaining());
    long first = begin >>> STRETCH_BITS;
    for (int i = 0; i < heats.remaining(); i++) {
      int heat = heats.get(heats.position() + i) & MOST_HEAT;
      ring.setPlain(index(ring, first + i), count(heat));
    }
    counts = ring;
  }

  private static AtomicIntegerArray ring(int stretches) {
    int wanted = Math.max(LEAST_STRETCHES, 2 * stretches);
    return new AtomicIntegerArray(Integer.highestOneBit(2 * wanted - 1));
  }
}
