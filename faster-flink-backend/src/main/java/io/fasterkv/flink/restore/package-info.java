/** Snapshots read back, clipped to the subtask's key groups; and migration of values. */
@NullMarked
package io.fasterkv.flink.restore;

import org.jspecify.annotations.NullMarked;
