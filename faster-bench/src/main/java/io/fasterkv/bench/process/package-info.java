/** What the demo and the benchmarks share as programs: their directories and their memory. */
@NullMarked
package io.fasterkv.bench.process;

import org.jspecify.annotations.NullMarked;
