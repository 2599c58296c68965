/**
 * Epoch protection and trigger actions, the phases of a checkpoint, and the record of a store's
 * failure.
 */
@NullMarked
package io.fasterkv.epoch;

import org.jspecify.annotations.NullMarked;
