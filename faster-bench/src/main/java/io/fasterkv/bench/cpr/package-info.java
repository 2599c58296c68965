/**
 * Measures the costs and benefits of concurrent prefix recovery: the rows and figures of its paper.
 */
@NullMarked
package io.fasterkv.bench.cpr;

import org.jspecify.annotations.NullMarked;
