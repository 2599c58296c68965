/** Epoch protection and trigger actions, also for latch-free structures outside the store. */
@NullMarked
package io.fasterkv.epoch;

import org.jspecify.annotations.NullMarked;
