/** Reads by io_uring. */
@NullMarked
package io.fasterkv.device.ring;

import org.jspecify.annotations.NullMarked;
