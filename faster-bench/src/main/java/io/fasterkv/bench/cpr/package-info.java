/** What concurrent prefix recovery costs and gives: the rows and figures of its paper. */
@NullMarked
package io.fasterkv.bench.cpr;

import org.jspecify.annotations.NullMarked;
