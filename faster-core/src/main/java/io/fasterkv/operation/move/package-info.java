/** Moves live records and chunks of large values to the tail, for compaction. */
@NullMarked
package io.fasterkv.operation.move;

import org.jspecify.annotations.NullMarked;
