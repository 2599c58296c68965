/**
 * Writes snapshots: files of the log, and cuts sorted by key in Flink's savepoint format. Also
 * lists keys.
 */
@NullMarked
package io.fasterkv.flink.snapshot;

import org.jspecify.annotations.NullMarked;
