/** The same count without Flink, and what differs. */
@NullMarked
package io.fasterkv.bench.demo.check;

import org.jspecify.annotations.NullMarked;
