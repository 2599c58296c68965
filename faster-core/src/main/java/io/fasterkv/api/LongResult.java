package io.fasterkv.api;

/**
 * The result of a read or an RMW of a {@code long} value.
 *
 * @param status the outcome
 * @param value the value that the read found, or the output of the RMW; 0 if there is none
 */
public record LongResult(Status status, long value) {}
