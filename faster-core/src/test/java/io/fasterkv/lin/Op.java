package io.fasterkv.lin;

import java.util.OptionalLong;

/**
 * One operation of a history, as its caller saw it.
 *
 * @param input the value that an upsert writes, or that an RMW mixes in
 * @param answer what the operation reported about the key
 * @param output the value that a read found, if any
 * @param begun when it was called; {@code ended} is when it returned, by a clock shared by all
 *     threads. Operations of one batch have the same times, and take effect in the order of the
 *     history
 */
public record Op(
    Kind kind, long input, Answer answer, OptionalLong output, long begun, long ended) {

  /** Whether both operations are of one batch. */
  boolean isBatchedWith(Op other) {
    return begun == other.begun && ended == other.ended;
  }

  /** The kind of operation. */
  public enum Kind {
    READ,
    UPSERT,
    RMW,
    DELETE
  }

  /** What an operation reports about the key at the moment it took effect. */
  public enum Answer {
    /** The key had a value. */
    PRESENT,
    /** The key had no value. */
    ABSENT,
    /** The operation does not report it. */
    UNKNOWN
  }

  /** The value that an RMW leaves; the order of two RMWs is visible in the result. */
  public static long mix(long oldValue, long input) {
    return oldValue * 31 + input;
  }
}
