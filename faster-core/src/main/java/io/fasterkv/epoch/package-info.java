/** Who is where: epoch protection and trigger actions. */
@NullMarked
package io.fasterkv.epoch;

import org.jspecify.annotations.NullMarked;
