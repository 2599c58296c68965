/** Inspects the checkpoints in a directory from the command line. */
@NullMarked
package io.fasterkv.bench.checkpoints;

import org.jspecify.annotations.NullMarked;
