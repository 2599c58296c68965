/** The store's parts by themselves, measured by JMH. */
@NullMarked
package io.fasterkv.bench.jmh;

import org.jspecify.annotations.NullMarked;
