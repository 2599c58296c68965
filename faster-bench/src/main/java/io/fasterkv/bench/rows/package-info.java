/** The figures that the project has set itself, each as a ratio from one interleaved run. */
@NullMarked
package io.fasterkv.bench.rows;

import org.jspecify.annotations.NullMarked;
