/** Compares Flink's state backends: the rows of Flink's own state benchmarks. */
@NullMarked
package io.fasterkv.bench.flink;

import org.jspecify.annotations.NullMarked;
