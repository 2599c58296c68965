/** The memory of a process that runs nothing but the store. */
@NullMarked
package io.fasterkv.bench.memory;

import org.jspecify.annotations.NullMarked;
