/** Checkpoints and recovery. */
@NullMarked
package io.fasterkv.checkpoint;

import org.jspecify.annotations.NullMarked;
