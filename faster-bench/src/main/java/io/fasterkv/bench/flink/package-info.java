/** Flink's state backends side by side: the rows of Flink's own state benchmarks. */
@NullMarked
package io.fasterkv.bench.flink;

import org.jspecify.annotations.NullMarked;
