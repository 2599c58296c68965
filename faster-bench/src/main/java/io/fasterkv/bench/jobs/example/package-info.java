/**
 * Stateful jobs on the streams of an auction site, to copy: they need Flink only. Each result is
 * the same in every run, whatever the order in which tasks receive elements of different sources.
 */
@NullMarked
package io.fasterkv.bench.jobs.example;

import org.jspecify.annotations.NullMarked;
