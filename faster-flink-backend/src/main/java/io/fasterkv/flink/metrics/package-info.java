/** Reports an operator's store in Flink's metrics. */
@NullMarked
package io.fasterkv.flink.metrics;

import org.jspecify.annotations.NullMarked;
