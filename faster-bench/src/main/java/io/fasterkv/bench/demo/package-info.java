/**
 * The demo: a Flink job on real text that loses a task, recovers, rescales and proves its counts.
 */
@NullMarked
package io.fasterkv.bench.demo;

import org.jspecify.annotations.NullMarked;
