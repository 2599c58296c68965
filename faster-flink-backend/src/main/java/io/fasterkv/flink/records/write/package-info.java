/**
 * All records of one backend: writes them directly or defers them, and joins the rooms of values,
 * lists, maps and timers.
 */
@NullMarked
package io.fasterkv.flink.records.write;

import org.jspecify.annotations.NullMarked;
