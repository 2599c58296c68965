/** A device whose log is still being copied from elsewhere. */
@NullMarked
package io.fasterkv.device.restore;

import org.jspecify.annotations.NullMarked;
