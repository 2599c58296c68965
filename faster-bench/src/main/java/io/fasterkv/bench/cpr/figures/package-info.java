/** Experiments whose result is a figure of the paper: a plot, and its data. */
@NullMarked
package io.fasterkv.bench.cpr.figures;

import org.jspecify.annotations.NullMarked;
