/** Devices without files. */
@NullMarked
package io.fasterkv.device.memory;

import org.jspecify.annotations.NullMarked;
