package io.fasterkv.api.checkpoint;

import io.fasterkv.api.ByteSpan;

/**
 * A live record of a checkpoint.
 *
 * @param address the record's log address
 * @param version the version that wrote the record, modulo 64
 * @param key the key; a {@code long} key is eight bytes in the machine's byte order
 * @param value the whole value, or, for a delta, the part to merge with the key's older records
 * @param isDelta whether the value must be merged with the key's older records
 */
public record DumpedRecord(
    long address, int version, ByteSpan key, ByteSpan value, boolean isDelta) {}
