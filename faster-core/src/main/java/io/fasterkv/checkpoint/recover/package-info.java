/**
 * Opens a store from a checkpoint: checks it, loads the index, restores the snapshot, and replays
 * the log.
 */
@NullMarked
package io.fasterkv.checkpoint.recover;

import org.jspecify.annotations.NullMarked;
