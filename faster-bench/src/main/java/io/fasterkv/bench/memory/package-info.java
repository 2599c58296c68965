/** Measures the memory of a process that runs only the store. */
@NullMarked
package io.fasterkv.bench.memory;

import org.jspecify.annotations.NullMarked;
