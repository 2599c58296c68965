/** Loads stores, checks their results, and times them in turn. */
@NullMarked
package io.fasterkv.bench.ycsb;

import org.jspecify.annotations.NullMarked;
