/**
 * The demo: a Flink job on real text that loses a task, recovers, rescales and proves its counts.
 */
@NullMarked
package io.fasterkv.demo;

import org.jspecify.annotations.NullMarked;
