package io.fasterkv.api;

/**
 * The result of a read of a {@code long} value.
 *
 * @param status {@link Status#FOUND} or {@link Status#NOT_FOUND}
 * @param value the value; 0 if there is none
 */
public record LongResult(Status status, long value) {}
