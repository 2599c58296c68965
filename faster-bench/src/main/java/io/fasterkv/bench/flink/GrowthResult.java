package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;

/**
 * The measurements of a checkpoint of small state.
 *
 * @param checkpoint its number, from 1
 * @param namedBytes bytes of the files that it names
 * @param files number of files that it names, including its metadata
 * @param uploadedBytes bytes of this checkpoint and all before it
 */
record GrowthResult(
    GrowthState state,
    Backend backend,
    long checkpoint,
    long namedBytes,
    int files,
    long uploadedBytes) {}
