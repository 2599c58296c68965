/** Durable bytes, asynchronously. */
@NullMarked
package io.fasterkv.device;

import org.jspecify.annotations.NullMarked;
