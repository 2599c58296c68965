/**
 * Stateful jobs on the streams of an auction site. They depend on Flink only, so they can be
 * copied. Each result is the same in every run, in whatever order tasks receive the elements of
 * different sources.
 */
@NullMarked
package io.fasterkv.bench.jobs.example;

import org.jspecify.annotations.NullMarked;
