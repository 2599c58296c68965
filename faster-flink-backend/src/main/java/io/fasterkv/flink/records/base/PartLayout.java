package io.fasterkv.flink.records.base;

import io.fasterkv.api.ByteSpan;

/**
 * Draws a value of several records: its head and its parts have the value's incarnation.
 *
 * <pre>
 *   head record (sub number 0)
 *   | 0           | ...               |    one record alone
 *   | another tag | incarnation: 8 | ... |    the head of parts
 *
 *   part (any other sub number)
 *   | incarnation: 8 | ... |
 * </pre>
 *
 * <p>A part belongs to the value if its incarnation equals the head's; any other part is dead. So
 * one write of the head removes or replaces the whole value. The blocks of timer queues have no
 * incarnation: {@code TreeLayout}.
 */
public final class PartLayout {
  /** No value has this incarnation. */
  public static final long NONE = 0;

  public static final int INCARNATION_BYTES = Long.BYTES;
  public static final int HEAD_INCARNATION_AT = 1;
  private static final int PART_INCARNATION_AT = 0;
  private static final byte ALONE = 0;

  private PartLayout() {}

  /** The incarnation of a head, or {@link #NONE} if it has no parts. */
  public static long ofHead(ByteSpan head) {
    return head.getByte(0) == ALONE ? NONE : head.getLong(HEAD_INCARNATION_AT);
  }

  /** The incarnation of a head that starts in an array, or {@link #NONE} if it has no parts. */
  public static long ofHead(byte[] bytes, int start) {
    return bytes[start] == ALONE ? NONE : Numbers.getLong(bytes, start + HEAD_INCARNATION_AT);
  }

  public static long ofPart(ByteSpan part) {
    return part.getLong(PART_INCARNATION_AT);
  }

  /** The incarnation of a part that starts in an array. */
  public static long ofPart(byte[] bytes, int start) {
    return Numbers.getLong(bytes, start + PART_INCARNATION_AT);
  }

  public static void putIntoPart(ByteSpan part, long incarnation) {
    part.putLong(PART_INCARNATION_AT, incarnation);
  }
}
