/** What an operator's store tells in Flink's metrics. */
@NullMarked
package io.fasterkv.flink.metrics;

import org.jspecify.annotations.NullMarked;
