/** Converts arguments to values, or says which values are allowed. */
@NullMarked
package io.fasterkv.bench.args;

import org.jspecify.annotations.NullMarked;
