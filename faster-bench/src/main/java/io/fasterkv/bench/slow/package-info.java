/** A file system for Flink with the delays and the bandwidth of remote storage. */
@NullMarked
package io.fasterkv.bench.slow;

import org.jspecify.annotations.NullMarked;
