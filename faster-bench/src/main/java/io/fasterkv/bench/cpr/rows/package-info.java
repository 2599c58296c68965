/** Experiments whose result is a ratio in a table. */
@NullMarked
package io.fasterkv.bench.cpr.rows;

import org.jspecify.annotations.NullMarked;
