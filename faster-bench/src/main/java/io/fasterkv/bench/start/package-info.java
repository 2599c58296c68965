/** {@code ./bench start}: what the first second of a process costs. */
@NullMarked
package io.fasterkv.bench.start;

import org.jspecify.annotations.NullMarked;
