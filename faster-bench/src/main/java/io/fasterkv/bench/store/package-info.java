/** The stores that are measured, all behind one door. */
@NullMarked
package io.fasterkv.bench.store;

import org.jspecify.annotations.NullMarked;
