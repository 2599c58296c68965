/**
 * Takes the store from one version to the next, phase by phase (CPR, section 6), and has the
 * checkpoint written on the way.
 */
@NullMarked
package io.fasterkv.checkpoint.shift;

import org.jspecify.annotations.NullMarked;
