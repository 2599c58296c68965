/** The benchmarks behind {@code ./bench}. */
@NullMarked
package io.fasterkv.bench;

import org.jspecify.annotations.NullMarked;
