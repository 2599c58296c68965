/** The stores that are measured, behind one interface. */
@NullMarked
package io.fasterkv.bench.store;

import org.jspecify.annotations.NullMarked;
