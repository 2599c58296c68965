package io.fasterkv.api;

/**
 * A live record of a checkpoint.
 *
 * @param address where in the log it lies
 * @param version the version that it was written in, modulo 64
 * @param key its key; a {@code long} key is eight bytes in the machine's order
 * @param value its value, whole, or what is to be merged with the value below it
 * @param isDelta whether the value is to be merged with the records of the key that came before
 */
public record DumpedRecord(
    long address, int version, ByteSpan key, ByteSpan value, boolean isDelta) {}
