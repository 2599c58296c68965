/** Runs jobs on several state backends in turn, compares their results, and reports. */
@NullMarked
package io.fasterkv.bench.runs;

import org.jspecify.annotations.NullMarked;
