/** Devices in files, other durable files, and transfers on the threads of a device. */
@NullMarked
package io.fasterkv.device.file;

import org.jspecify.annotations.NullMarked;
