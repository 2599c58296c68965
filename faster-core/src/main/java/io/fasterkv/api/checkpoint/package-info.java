/** Checkpoints, commits and recovery. */
@NullMarked
package io.fasterkv.api.checkpoint;

import org.jspecify.annotations.NullMarked;
