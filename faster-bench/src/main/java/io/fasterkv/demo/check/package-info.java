/** Counts the same words without Flink, and compares the results. */
@NullMarked
package io.fasterkv.demo.check;

import org.jspecify.annotations.NullMarked;
