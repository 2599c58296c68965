/** What is done to which keys: workloads, distributions, and streams of keys made beforehand. */
@NullMarked
package io.fasterkv.bench.workload;

import org.jspecify.annotations.NullMarked;
