/** Measures the store's parts separately with JMH. */
@NullMarked
package io.fasterkv.bench.jmh;

import org.jspecify.annotations.NullMarked;
