package io.fasterkv.api;

/**
 * What a read of a {@code long} has found.
 *
 * @param status FOUND or NOT_FOUND
 * @param value the value; 0 if there is none
 */
public record LongResult(Status status, long value) {}
