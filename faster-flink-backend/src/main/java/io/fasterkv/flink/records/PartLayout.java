package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;

/**
 * How a value of several records holds together: its head and its parts have its identity.
 *
 * <pre>
 *   head record (sub number 0)
 *   | 0           | ...               |    one record alone
 *   | another tag | identity: 8 | ... |    the head of parts
 *
 *   part (any other sub number)
 *   | identity: 8 | ... |
 * </pre>
 *
 * <p>A part belongs to the value if its identity is the head's; any other part is dead, whatever is
 * in it. So a value goes, or another takes its place, with one write of its head. The blocks of
 * timer queues have no identity: {@link TreeLayout}.
 */
public final class PartLayout {
  /** No value has this identity. */
  public static final long NONE = 0;

  public static final int IDENTITY_BYTES = Long.BYTES;
  static final int HEAD_IDENTITY_AT = 1;
  private static final int PART_IDENTITY_AT = 0;
  private static final byte ALONE = 0;

  private PartLayout() {}

  /** The identity of a head, or {@link #NONE} if it has no parts. */
  public static long ofHead(ByteSpan head) {
    return head.getByte(0) == ALONE ? NONE : head.getLong(HEAD_IDENTITY_AT);
  }

  /** The identity of a head that starts in an array, or {@link #NONE} if it has no parts. */
  public static long ofHead(byte[] bytes, int start) {
    return bytes[start] == ALONE ? NONE : Numbers.getLong(bytes, start + HEAD_IDENTITY_AT);
  }

  public static long ofPart(ByteSpan part) {
    return part.getLong(PART_IDENTITY_AT);
  }

  /** The identity of a part that starts in an array. */
  public static long ofPart(byte[] bytes, int start) {
    return Numbers.getLong(bytes, start + PART_IDENTITY_AT);
  }

  static void putIntoPart(ByteSpan part, long identity) {
    part.putLong(PART_IDENTITY_AT, identity);
  }
}
