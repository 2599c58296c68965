/** Cuts of the log, sorted by key and written in Flink's savepoint format; and listings of keys. */
@NullMarked
package io.fasterkv.flink.snapshot;

import org.jspecify.annotations.NullMarked;
