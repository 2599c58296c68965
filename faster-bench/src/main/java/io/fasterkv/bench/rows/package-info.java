/** Measures the project's goals, each as a ratio from one interleaved run. */
@NullMarked
package io.fasterkv.bench.rows;

import org.jspecify.annotations.NullMarked;
