/**
 * Writes checkpoints: the index image, the log or a snapshot, and the manifest last. Keeps what
 * kept checkpoints need.
 */
@NullMarked
package io.fasterkv.checkpoint.write;

import org.jspecify.annotations.NullMarked;
