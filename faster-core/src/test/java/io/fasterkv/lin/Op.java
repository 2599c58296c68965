package io.fasterkv.lin;

import java.util.OptionalLong;

/**
 * One operation of a history, as its caller saw it.
 *
 * @param input what an upsert writes, or what an RMW mixes in
 * @param answer what it said about the key
 * @param output what a read found, if it found something
 * @param begun when it was called; {@code ended}, when it returned: by a clock that all share.
 *     Operations of one batch have the same times, and take effect in the order of the history
 */
public record Op(
    Kind kind, long input, Answer answer, OptionalLong output, long begun, long ended) {

  /** Whether both are of one batch. */
  boolean isBatchedWith(Op other) {
    return begun == other.begun && ended == other.ended;
  }

  /** What was asked. */
  public enum Kind {
    READ,
    UPSERT,
    RMW,
    DELETE
  }

  /** What an operation says about the moment it took effect. */
  public enum Answer {
    /** The key had a value. */
    PRESENT,
    /** The key had none. */
    ABSENT,
    /** It does not say. */
    UNKNOWN
  }

  /** The value that an RMW leaves; the order of two of them shows in the result. */
  public static long mix(long oldValue, long input) {
    return oldValue * 31 + input;
  }
}
