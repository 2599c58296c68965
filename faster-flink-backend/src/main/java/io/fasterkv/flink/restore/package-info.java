/** Restores snapshots, clipped to the subtask's key groups, and migrates values. */
@NullMarked
package io.fasterkv.flink.restore;

import org.jspecify.annotations.NullMarked;
