/**
 * Process directories, child processes and memory figures, shared by the demo and the benchmarks.
 */
@NullMarked
package io.fasterkv.bench.process;

import org.jspecify.annotations.NullMarked;
