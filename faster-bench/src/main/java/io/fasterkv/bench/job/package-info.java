/** A Flink job on a cluster: its source, its sink, and what is measured in between. */
@NullMarked
package io.fasterkv.bench.job;

import org.jspecify.annotations.NullMarked;
