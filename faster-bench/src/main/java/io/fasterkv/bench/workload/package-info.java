/** Workloads, distributions, and streams of keys generated in advance. */
@NullMarked
package io.fasterkv.bench.workload;

import org.jspecify.annotations.NullMarked;
