/** A query of Nexmark as a Flink job: its source, its sink, and what is measured in between. */
@NullMarked
package io.fasterkv.bench.nexmark.job;

import org.jspecify.annotations.NullMarked;
