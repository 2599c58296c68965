/**
 * Devices that store the bytes of a log, with asynchronous transfers, and durable operations on
 * files.
 */
@NullMarked
package io.fasterkv.device;

import org.jspecify.annotations.NullMarked;
